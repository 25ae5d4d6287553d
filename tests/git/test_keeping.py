"""What is kept in memory stays within its bounds."""

from concurrent.futures import ThreadPoolExecutor

from ingot.git.core.keep import ImmutableCache


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    """And being asked for counts as being used."""
    kept: ImmutableCache[str] = ImmutableCache(3 * 300)
    for key in "abc":
        assert kept.put(key, key.upper(), 100) == key.upper()
    assert kept.get("a") == "A"
    kept.put("d", "D", 100)
    assert [kept.get(key) for key in "abcd"] == ["A", None, "C", "D"]


def test_what_is_too_large_is_not_kept() -> None:
    """It would drive out everything else."""
    kept: ImmutableCache[str] = ImmutableCache(1000)
    kept.put("small", "1")
    assert kept.put("large", "2", 1000) == "2"
    assert kept.get("large") is None
    assert kept.get("small") == "1"


def test_a_newer_value_takes_the_place_of_the_old_one() -> None:
    """Its size, too."""
    kept: ImmutableCache[int] = ImmutableCache(10_000)
    for size in (5000, 100, 300):
        kept.put("key", size, size)
    assert kept.get("key") == 300
    assert kept.bytes == 500


def test_many_threads_at_once() -> None:
    """Nothing is counted twice or lost."""
    kept: ImmutableCache[int] = ImmutableCache(50 * 201)

    def use(number: int) -> None:
        kept.put(number % 200, number, 1)
        kept.get((number + 7) % 200)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(5000)))
    assert kept.bytes == 50 * 201
