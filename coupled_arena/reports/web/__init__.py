"""What local web pages share: who may open them, what their answers carry, and the server itself."""
