"""Keeping text within what UTF-8 can hold."""


def storable(text: str) -> str:
    r"""Return text with lone surrogates written as escapes; the same object where there is nothing to change.

    >>> storable("a\udc80")
    'a\\udc80'
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
