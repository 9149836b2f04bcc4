"""OpenAI's protocol, by OpenAI's own client and by LangChain's."""

from __future__ import annotations

import base64

import numpy as np
import openai
import pytest
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from tests.rag_core.api.conftest import Served

ASKED = "How many days of annual leave do employees have?"


@pytest.fixture(scope="module")
def client(served: Served) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0)


def test_an_answer_with_its_citations(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="lectern", messages=[{"role": "user", "content": ASKED}])
    assert "27" in answer.choices[0].message.content
    assert "Sources:\n[1] handbook, p. 1" in answer.choices[0].message.content
    assert answer.model_extra["citations"][0]["title"] == "handbook"
    assert answer.model_extra["outcome"] == "answered"
    assert answer.choices[0].finish_reason == "stop"


def test_a_stream_and_what_was_said_before(client: openai.OpenAI) -> None:
    before = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": "27 days [1].\n\nSources:\n[1] handbook, p. 1"},
    ]
    question = [{"type": "text", "text": "How long is the notice period?"}]
    chunks = [*client.chat.completions.create(
        model="extractive", messages=[*before, {"role": "user", "content": question}], stream=True,
        stream_options={"include_usage": True}, extra_body={"sources": False},
    )]  # fmt: skip
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert "three months" in text
    assert "Sources" not in text
    assert chunks[-2].model_extra["citations"]
    assert chunks[-2].model_extra["outcome"] == "answered"
    assert chunks[-1].usage.total_tokens == 0


def test_nothing_is_kept(client: openai.OpenAI, served: Served) -> None:
    before = len(served.library.conversations())
    client.chat.completions.create(model="lectern", messages=[{"role": "user", "content": "Who books trains?"}])
    assert len(served.library.conversations()) == before


def test_models_and_what_is_refused(client: openai.OpenAI) -> None:
    assert {"lectern", "extractive"} <= {model.id for model in client.models.list()}
    assert client.models.retrieve("lectern").owned_by == "lectern"
    with pytest.raises(openai.NotFoundError, match="gpt-9"):
        client.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "x"}])
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(model="lectern", messages=[])
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="lectern", messages=[{"role": "assistant", "content": "x"}])


def test_vectors(client: openai.OpenAI, served: Served) -> None:
    wanted = served.library.embed(["one", "two"])
    for form in ("float", "base64"):
        made = client.embeddings.create(model="lectern", input=["one", "two"], encoding_format=form)
        got = [one.embedding for one in made.data]
        got = [np.frombuffer(base64.b64decode(one), "<f4") if isinstance(one, str) else one for one in got]
        assert np.allclose(got, wanted, atol=1e-6)
        assert (made.usage.prompt_tokens, made.usage.total_tokens) == (2, 2)
    assert np.allclose(client.embeddings.create(model="lectern", input=["one", "two"]).data[1].embedding, wanted[1])


def test_langchain_speaks_with_it(served: Served) -> None:
    model = ChatOpenAI(model="lectern", base_url=f"{served.url}/v1", api_key="none")
    assert "27" in model.invoke(ASKED).content
    assert "27" in "".join(event.content for event in model.stream(ASKED))
    vectors = OpenAIEmbeddings(
        model="lectern", base_url=f"{served.url}/v1", api_key="none", check_embedding_ctx_length=False
    )
    assert len(vectors.embed_query("one")) == 384
