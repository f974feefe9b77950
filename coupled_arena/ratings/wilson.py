"""Wilson's score interval of a share."""

import math


def wilson(share: float, number: float, quantile: float) -> tuple[float, float]:
    """Return the ends of the interval of every m with `(share - m)^2 <= quantile^2 m (1 - m) / number`.

    The source is Wilson 1927, Journal of the American Statistical Association 22.

    Args:
        share: in [0, 1].
        number: independent trials it rests on, above 0; may be an effective number.
        quantile: standard errors that the interval is to reach.

    Example:
        >>> [round(end, 3) for end in wilson(0.8, 10, 1.96)], wilson(1.0, 10, 1.96)[1]
        ([0.49, 0.943], 1.0)
    """
    z = quantile**2 / number
    centre, reach = share + z / 2, math.sqrt(z * share * (1 - share) + z * z / 4)
    # A clean sweep reaches to the very end, which the sums miss by their last digit.
    return 0.0 if share == 0 else (centre - reach) / (1 + z), 1.0 if share == 1 else (centre + reach) / (1 + z)
