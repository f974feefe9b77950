-- A store as version 1 of the tables wrote it.
PRAGMA application_id = 1128350034;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE battles (
	run TEXT NOT NULL, 
	id TEXT NOT NULL, 
	round INTEGER NOT NULL, 
	question TEXT NOT NULL, 
	domain TEXT NOT NULL, 
	replicate INTEGER NOT NULL, 
	a TEXT NOT NULL, 
	b TEXT NOT NULL, 
	arm TEXT NOT NULL, 
	weight REAL NOT NULL, 
	PRIMARY KEY (run, id), 
	FOREIGN KEY(run) REFERENCES runs (id)
);
INSERT INTO "battles" VALUES('demo-3f2a91','b1',1,'math-1','math',0,'ada','bob','coupled',1.0);
CREATE TABLE calls (
	number INTEGER NOT NULL, 
	run TEXT NOT NULL, 
	"key" BLOB NOT NULL, 
	model TEXT NOT NULL, 
	noise BLOB NOT NULL, 
	sample INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	settings TEXT NOT NULL, 
	messages TEXT NOT NULL, 
	text TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	prompt_tokens INTEGER NOT NULL, 
	completion_tokens INTEGER NOT NULL, 
	cost REAL, 
	latency REAL NOT NULL, 
	reasoning TEXT NOT NULL, 
	probabilities TEXT NOT NULL, 
	tool_calls TEXT NOT NULL, 
	state TEXT NOT NULL, 
	sharing TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	retries INTEGER NOT NULL, 
	reused_from TEXT, 
	created REAL NOT NULL, 
	PRIMARY KEY (number), 
	FOREIGN KEY(run) REFERENCES runs (id)
);
INSERT INTO "calls" VALUES(1,'demo-3f2a91',X'6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B6B','openai/m',X'000102030405060708090A0B0C0D0E0F',0,0,'{"temperature":0.7,"max_tokens":10,"api_base":"https://***@host.invalid","options":{"extra":{"api_key":"***","n":1}}}','[["system","2ad14bf7e2d967a71493b2c961ee96ea"],["user","46fb7408d4f285228f4af516ea25851b"]]','x','ok',0,0,0.0,0.0,'','{}','[]','{}','none','',0,NULL,1000000000.0);
CREATE TABLE decisions (
	run TEXT NOT NULL, 
	battle TEXT NOT NULL, 
	status TEXT NOT NULL, 
	verdict TEXT, 
	votes TEXT NOT NULL, 
	stages TEXT NOT NULL, 
	forfeited TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (run, battle), 
	FOREIGN KEY(run, battle) REFERENCES battles (run, id) ON DELETE CASCADE
);
INSERT INTO "decisions" VALUES('demo-3f2a91','b1','decided','B','{"B":2}','["B",null]','[]','');
CREATE TABLE opinions (
	run TEXT NOT NULL, 
	battle TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	judge TEXT NOT NULL, 
	stage INTEGER NOT NULL, 
	"order" TEXT NOT NULL, 
	verdict TEXT, 
	status TEXT NOT NULL, 
	carried INTEGER NOT NULL, 
	reasons TEXT NOT NULL, 
	probabilities TEXT NOT NULL, 
	repairs INTEGER NOT NULL, 
	prompt_tokens INTEGER NOT NULL, 
	completion_tokens INTEGER NOT NULL, 
	sharing TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (run, battle, position), 
	FOREIGN KEY(run, battle) REFERENCES battles (run, id) ON DELETE CASCADE
);
INSERT INTO "opinions" VALUES('demo-3f2a91','b1',0,'j1',0,'AB','A','valid',0,'','{"A":0.9,"tie":0.1}',0,0,0,'none','');
CREATE TABLE questions (
	run TEXT NOT NULL, 
	id TEXT NOT NULL, 
	domain TEXT NOT NULL, 
	language TEXT NOT NULL, 
	text TEXT NOT NULL, 
	author TEXT NOT NULL, 
	reference TEXT, 
	PRIMARY KEY (run, id), 
	FOREIGN KEY(run) REFERENCES runs (id)
);
INSERT INTO "questions" VALUES('demo-3f2a91','math-1','math','en','?','sim/examiner',NULL);
CREATE TABLE ratings (
	run TEXT NOT NULL, 
	round INTEGER NOT NULL, 
	model TEXT NOT NULL, 
	rank INTEGER, 
	rating REAL, 
	low REAL, 
	high REAL, 
	wins INTEGER NOT NULL, 
	losses INTEGER NOT NULL, 
	ties INTEGER NOT NULL, 
	void INTEGER NOT NULL, 
	forfeited INTEGER NOT NULL, 
	availability REAL, 
	PRIMARY KEY (run, round, model), 
	FOREIGN KEY(run) REFERENCES runs (id)
);
INSERT INTO "ratings" VALUES('demo-3f2a91',1,'ada',1,1010.0,NULL,NULL,1,0,0,0,0,1.0);
CREATE TABLE rejected (
	run TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	domain TEXT NOT NULL, 
	text TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (run, position), 
	FOREIGN KEY(run) REFERENCES runs (id)
);
INSERT INTO "rejected" VALUES('demo-3f2a91',0,'math','1.','no question');
CREATE TABLE runs (
	id TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	name TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	manifest TEXT NOT NULL, 
	caveats TEXT NOT NULL, 
	status TEXT NOT NULL, 
	writer INTEGER NOT NULL, 
	opened INTEGER NOT NULL, 
	created REAL NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('demo-3f2a91','3f2a91c0d1','demo','{"seed":7}','{"version":"1"}','["math: few"]','finished',1,1,1000000000.0);
CREATE TABLE texts (
	digest BLOB NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (digest)
)
 WITHOUT ROWID

;
INSERT INTO "texts" VALUES(X'2AD14BF7E2D967A71493B2C961EE96EA','be brief');
INSERT INTO "texts" VALUES(X'46FB7408D4F285228F4AF516EA25851B','hello');
CREATE TABLE turns (
	run TEXT NOT NULL, 
	battle TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	step INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	speaker TEXT NOT NULL, 
	model TEXT NOT NULL, 
	sections TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	missing TEXT NOT NULL, 
	cut INTEGER NOT NULL, 
	by_section INTEGER NOT NULL, 
	requests INTEGER NOT NULL, 
	prompt_tokens INTEGER NOT NULL, 
	completion_tokens INTEGER NOT NULL, 
	sharing TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (run, battle, position), 
	FOREIGN KEY(run, battle) REFERENCES battles (run, id) ON DELETE CASCADE
);
INSERT INTO "turns" VALUES('demo-3f2a91','b1',0,1,1,'A','ada','[["respond","42"]]','ok','[]',0,0,0,0,0,'none','');
INSERT INTO "turns" VALUES('demo-3f2a91','b1',1,2,1,'B','bob','[]','refused','[]',0,0,0,0,0,'none','no');
CREATE INDEX ix_runs_digest ON runs (digest);
CREATE UNIQUE INDEX calls_by_key ON calls ("key", run);
COMMIT;
