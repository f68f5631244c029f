"""A provider of our own, `house`: the door to `house_model.py`."""


def pytest_verica_providers():
    # Imported here: a plain `pytest` run never asks for providers, and stays as quick as it was.
    from house_model import Busy, HouseModel

    from pytest_verica.completion import Completion
    from pytest_verica.errors import ProviderError
    from pytest_verica.providers.protocol import ProviderKind
    from pytest_verica.usage import Usage

    class House:
        def __init__(self, spec, timeout_s):
            self.model = HouseModel()

        async def complete(self, request):
            text = "\n".join(message.content or "" for message in request.messages)
            try:
                answer, read, written = self.model.ask(text, wants_json=request.answer is not None)
            except Busy as error:
                raise ProviderError("server", f"The house is busy: {error}.", retryable=True) from None
            return Completion(answer, stop_reason="stop", model="house-1", usage=Usage(read, written))

        async def models(self):
            return ("house-1",)

        async def aclose(self):
            pass

    def left_out(spec):
        return {name: "takes none" for name in ("temperature", "top_p") if spec.params.get(name) is not None}

    return [
        ProviderKind("house", House, needs_credential=False, about="the house's own model", left_out=left_out),
    ]


def pytest_verica_prices():
    return [{"provider": "house", "model": "house-*", "input": 1, "output": 2}]  # USD per million tokens
