"""What scores and verdicts say about models, judges and shared dice: pure computations on arrays and data frames."""
