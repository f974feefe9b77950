"""What can be known of a tournament before it is paid for: what is wrong with it, what it will ask, what it may cost.

`casting` lists the models that may be asked. `clearance` gathers the problems that `checks` find on this machine and
`probes` at the providers (`diagnosis` puts these into words); without any, `outlook` says what the run will be: the
`estimate` of all that it `asks`, as `loads` of calls that must fit into `contexts`, and `notes` on what may surprise.
"""
