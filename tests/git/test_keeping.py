"""What is kept in memory stays within its bounds."""

from concurrent.futures import ThreadPoolExecutor

from ingot.git.keeping import Keeper


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    """And being asked for counts as being used."""
    kept: Keeper[str] = Keeper(3 * 300)
    for key in "abc":
        assert kept.keep(key, key.upper(), 100) == key.upper()
    assert kept.get("a") == "A"
    kept.keep("d", "D", 100)
    assert [kept.get(key) for key in "abcd"] == ["A", None, "C", "D"]


def test_what_is_too_large_is_not_kept() -> None:
    """It would drive out everything else."""
    kept: Keeper[str] = Keeper(1000)
    kept.keep("small", "1")
    assert kept.keep("large", "2", 1000) == "2"
    assert kept.get("large") is None
    assert kept.get("small") == "1"


def test_a_newer_value_takes_the_place_of_the_old_one() -> None:
    """Its size, too."""
    kept: Keeper[int] = Keeper(10_000)
    for size in (5000, 100, 300):
        kept.keep("key", size, size)
    assert kept.get("key") == 300
    assert kept.bytes == 500


def test_many_threads_at_once() -> None:
    """Nothing is counted twice or lost."""
    kept: Keeper[int] = Keeper(50 * 201)

    def use(number: int) -> None:
        kept.keep(number % 200, number, 1)
        kept.get((number + 7) % 200)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(5000)))
    assert kept.bytes == 50 * 201
