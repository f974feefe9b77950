"""A loaded model at work: prompts one at a time and in portions, replies together, a token each a step."""

from dataclasses import dataclass, field

from coupled_arena.coupling import Sampler, Vocabulary
from coupled_arena.errors import EngineFault
from coupled_arena.models.calls import Reply
from coupled_arena.models.local.canonical import Prefill, last_cut
from coupled_arena.models.local.engine import Engine, Logits
from coupled_arena.models.local.prefixes import PrefixCache
from coupled_arena.models.local.requests import Request
from coupled_arena.models.local.scripts import Script, Step
from coupled_arena.models.local.shapes import shape_for


@dataclass(slots=True, eq=False)
class _Seat:
    """A request that has a sequence."""

    request: Request
    sequence: int
    prefill: Prefill | None
    script: Script[Reply] | None = None
    step: Step = field(default=Step(0, 0))
    length: int = 0


class Room:
    """One loaded model at work.

    Args:
        engine: the model.
        prefixes: where its evaluated prefixes are kept.
        capacity: tokens that all sequences together may hold, at least the engine's context.
        charge: bytes it counts in the memory budget.
        joint: whether replies may be written together; otherwise a token of one at a time.
    """

    def __init__(self, engine: Engine, prefixes: PrefixCache, *, capacity: int, charge: int, joint: bool) -> None:
        self.engine = engine
        """The model."""
        self.prefixes = prefixes
        """Where its evaluated prefixes are kept."""
        self.charge = charge
        """Bytes it counts in the memory budget."""
        self._sampler = Sampler(Vocabulary(engine.names, engine.end_tokens))
        self._capacity = capacity
        self._joint = joint
        self._seats: list[_Seat] = []

    @property
    def busy(self) -> bool:
        """Whether any request is being worked on."""
        return bool(self._seats)

    @property
    def prefilling(self) -> bool:
        """Whether a prompt is being evaluated; the next request is taken after it, and may reuse what it left."""
        return any(seat.prefill is not None for seat in self._seats)

    def __len__(self) -> int:
        return len(self._seats)

    def shared(self, request: Request) -> int:
        """Return how many leading tokens of a rendered prompt are kept here."""
        prompt = request.prompt
        return len(prompt) if self.prefixes.last(prompt) else self.prefixes.shared(prompt[: last_cut(len(prompt))])

    def seat(self, request: Request, waiting: int) -> bool:
        """Give a rendered request a sequence, if there is one or room for one.

        Args:
            request: what came, rendered.
            waiting: how many others would like a sequence of this model.
        """
        taken = {seat.sequence for seat in self._seats}
        width, length = self.engine.shape
        if request.reach > length or len(taken) == width:
            needs = [seat.request.reach for seat in self._seats] + [request.reach]
            shape = shape_for(needs, waiting, capacity=self._capacity, context=self.engine.context)
            if shape is None:
                return False
            self._seats.sort(key=lambda seat: seat.sequence)
            self.engine.reshape(shape, [seat.sequence for seat in self._seats])
            for sequence, seat in enumerate(self._seats):
                self._move(seat, sequence)
            taken, width = set(range(len(self._seats))), shape.width
        # Replies are written fastest in adjacent sequences, so a prompt keeps out of their midst where it can.
        above = range(max(taken, default=-1) + 1, width)
        sequence = above[0] if above else max(set(range(width)) - taken)
        self._seats.append(_Seat(request, sequence, Prefill(self.engine, self.prefixes, sequence, request.prompt)))
        return True

    def withdraw(self) -> None:
        """Free the sequences of requests for which nobody waits any more."""
        for seat in [seat for seat in self._seats if seat.request.withdrawn.is_set()]:
            self._seats.remove(seat)
            seat.request.give_up()

    def prefill(self) -> None:
        """Evaluate a portion of the prompt that is being evaluated.

        Raises:
            EngineFault: the model cannot be evaluated; nothing it holds is of use any more.
        """
        for seat in self._seats:
            if seat.prefill is not None:
                logits = seat.prefill.advance()
                if logits is not None:
                    seat.length = seat.prefill.done
                    seat.prefill = None
                    seat.script = seat.request.work.begin(self.engine, self._sampler, seat.length, logits)
                    self._resume(seat, None)
                return

    def decode(self) -> None:
        """Write one token of every reply.

        Raises:
            EngineFault: the model cannot be evaluated; nothing it holds is of use any more.
        """
        writing = self._compact()
        for seats in [writing] if self._joint and writing else [[seat] for seat in writing]:
            for seat in seats:
                if seat.step.position < seat.length:
                    self.engine.rewind(seat.sequence, seat.step.position)
            rows = self.engine.decode(
                [seat.sequence for seat in seats],
                [seat.step.token for seat in seats],
                [seat.step.position for seat in seats],
            )
            for seat, row in zip(seats, rows, strict=True):
                seat.length = seat.step.position + 1
                self._resume(seat, row)

    def close(self) -> list[Request]:
        """Let go of the weights and of all requests; return those that were being worked on."""
        seats, self._seats = self._seats, []
        self.engine.close()
        return [seat.request for seat in seats]

    def _resume(self, seat: _Seat, logits: Logits | None) -> None:
        """Let a script go on to its next step."""
        script = seat.script
        if script is None:
            return
        try:
            seat.step = next(script) if logits is None else script.send(logits)
        except StopIteration as end:
            self._seats.remove(seat)
            seat.request.finish(end.value)
        except EngineFault:
            raise
        except Exception as error:  # noqa: BLE001 - one request's mistake must not be another's
            self._seats.remove(seat)
            seat.request.fail(error)

    def _compact(self) -> list[_Seat]:
        """Move replies into the gaps that others left; return those being written, by sequence.

        A batch with gaps falls apart into its runs of adjacent sequences, each of which costs almost as much as the
        whole; moving a sequence costs little and changes nothing.
        """
        writing = sorted((seat for seat in self._seats if seat.prefill is None), key=lambda seat: seat.sequence)
        if not writing or writing[-1].sequence - writing[0].sequence + 1 == len(writing):
            return writing
        taken = {seat.sequence for seat in self._seats}
        gaps = [sequence for sequence in range(writing[0].sequence, writing[-1].sequence) if sequence not in taken]
        for gap in gaps:
            last = max(writing, key=lambda seat: seat.sequence)
            if last.sequence < gap:
                break
            self.engine.restore(gap, self.engine.save(last.sequence))
            self._move(last, gap)
        return sorted(writing, key=lambda seat: seat.sequence)

    def _move(self, seat: _Seat, sequence: int) -> None:
        seat.sequence = sequence
        if seat.prefill is not None:
            seat.prefill.sequence = sequence
