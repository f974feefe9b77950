from coupled_arena.models.local.threads import STALL, ThreadChoice


class Machine:
    """A clock, and steps that take a stated time under each number of threads."""

    def __init__(self, seconds: dict[int, float]) -> None:
        self.seconds = seconds
        self.now = 0.0
        self.steps: list[int] = []

    def clock(self) -> float:
        return self.now

    def step(self, threads: int) -> None:
        self.steps.append(threads)
        self.now += self.seconds[threads]


def test_all_cores_are_kept_where_they_are_faster() -> None:
    machine = Machine({1: 0.02, 4: 0.008})
    choice = ThreadChoice(None, 4, machine.clock)
    choice.measure(machine.step)
    assert choice.threads == 4


def test_one_thread_is_kept_beside_a_busy_neighbour_and_the_trial_is_cut_short() -> None:
    machine = Machine({1: 0.02, 2: 2.5})
    choice = ThreadChoice(None, 2, machine.clock)
    choice.measure(machine.step)
    assert choice.threads == 1
    assert machine.steps.count(2) == 2


def test_a_fixed_number_is_never_timed() -> None:
    machine = Machine({3: 1.0})
    choice = ThreadChoice(3, 8, machine.clock)
    choice.measure(machine.step)
    assert (choice.threads, machine.steps) == (3, [])
    assert not any(choice.stalled("decode", seconds) for seconds in [0.01] * 20 + [9.0])


def test_a_step_of_five_times_its_median_asks_for_a_new_timing() -> None:
    choice = ThreadChoice(None, 2)
    assert not any(choice.stalled("decode", 0.01) for _ in range(20))
    assert not choice.stalled("decode", 0.01 * STALL * 0.99)
    assert choice.stalled("decode", 0.01 * STALL)


def test_kinds_of_steps_have_medians_of_their_own() -> None:
    choice = ThreadChoice(None, 2)
    assert not any(choice.stalled("decode", 0.01) for _ in range(20))
    assert not any(choice.stalled("prefill", 0.5) for _ in range(20))


def test_few_steps_are_no_median() -> None:
    choice = ThreadChoice(None, 2)
    assert not any(choice.stalled("decode", seconds) for seconds in (0.01, 0.01, 9.0))


def test_after_a_timing_the_median_starts_anew() -> None:
    machine = Machine({1: 0.02, 2: 0.01})
    choice = ThreadChoice(None, 2, machine.clock)
    assert not any(choice.stalled("decode", 0.01) for _ in range(20))
    choice.measure(machine.step)
    assert not choice.stalled("decode", 1.0)
