"""The one chain that every model answers through: LangChain's RetrievalQA. Importing this imports LangChain."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from langchain_classic.chains import RetrievalQA
from langchain_classic.chains.combine_documents.base import BaseCombineDocumentsChain
from langchain_classic.chains.combine_documents.stuff import StuffDocumentsChain
from langchain_classic.chains.llm import LLMChain
from langchain_core._api.deprecation import LangChainDeprecationWarning
from langchain_core.callbacks import (
    BaseCallbackHandler,
    CallbackManagerForChainRun,
    Callbacks,
)
from langchain_core.documents import Document
from langchain_core.messages import SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langsmith.run_helpers import tracing_context
from pydantic import PrivateAttr

from rag_core.answering.chat import LangChainModel, from_langchain, to_langchain
from rag_core.answering.dialogues import NOTHING_SAID, Dialogue
from rag_core.answering.encoding import Encoder
from rag_core.answering.quoted import quoted
from rag_core.answering.strategies.aim import Aim
from rag_core.answering.strategies.extractive import NOTHING_EXTRACTED, Extraction, extract, extract_parts
from rag_core.answering.widening import text_of, widened
from rag_core.domain import Hit
from rag_core.models import ChatModel, Usage, prompts
from rag_core.retrieval import Retrieval

# RetrievalQA is in maintenance; its notes about that are nothing a user can act on.
warnings.filterwarnings("ignore", category=LangChainDeprecationWarning)


class Listener(BaseCallbackHandler):
    """Passes on, from the chain's thread, the hits found and every piece of text."""

    # Without this LangChain logs what a handler raises and goes on, so that a stop would not stop.
    raise_error = True

    def __init__(self, on_hits: Callable[[tuple[Hit, ...]], None], on_text: Callable[[str], None]) -> None:
        self._on_hits = on_hits
        self._on_text = on_text

    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **kwargs: Any) -> None:
        """The search is done."""
        self._on_hits(hits_of(documents))

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A language model wrote something."""
        self._on_text(str(token))

    def on_text(self, text: str, *, run_id: UUID, quoted: bool = False, **kwargs: Any) -> None:
        """The extractive chain quoted something; LangChain's own chains announce their prompts here."""
        if quoted:
            self._on_text(text)


class ExtractiveChain(BaseCombineDocumentsChain):
    """Answers with what of the documents answers best; see rag_core.answering.strategies.extractive.

    aim: what the question is aimed at; parts: the questions that it consists of, each with what was found for it, where
    there are several. Both are asked for once the documents were searched.
    """

    encoder: Encoder
    max_sentences: int
    aim: Callable[[], Aim]
    parts: Callable[[], Mapping[str, Retrieval]]
    _missing: tuple[str, ...] = PrivateAttr(default=())
    _extraction: Extraction = PrivateAttr(default=NOTHING_EXTRACTED)

    @property
    def extraction(self) -> Extraction:
        """What the last call quoted."""
        return self._extraction

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts of the question that the last call left unanswered, where others were answered."""
        return self._missing

    def _call(self, inputs: dict[str, Any], run_manager: CallbackManagerForChainRun | None = None) -> dict[str, str]:
        result, _ = self.combine_docs(inputs[self.input_key], question=inputs["question"])
        if run_manager is not None:
            run_manager.on_text(result, quoted=True)
        return {self.output_key: result}

    def combine_docs(self, docs: list[Document], **kwargs: Any) -> tuple[str, dict[str, Any]]:
        """Quote from the documents' hits: the text with its numbers, one paragraph for each quote."""
        aim, most = self.aim(), self.max_sentences
        found, self._missing = extract_parts(self.parts(), self.encoder, max_sentences=most)
        if found is None:  # there are no parts, or what seems to be one says little without the others
            found = extract(kwargs["question"], hits_of(docs), self.encoder, aim=aim, max_sentences=most)
            self._missing = ()
        self._extraction = found
        return quoted(self._extraction)[0], {}

    async def acombine_docs(self, docs: list[Document], **kwargs: Any) -> tuple[str, dict[str, Any]]:
        """The same; nothing here waits."""
        return self.combine_docs(docs, **kwargs)


class BudgetedStuffChain(StuffDocumentsChain):
    """Puts numbered passages into one prompt, as many as the model's context holds, counted in its own tokens.

    Where the dialogue before is about the same passages, the model is told those alone that it does not have yet.
    """

    model: ChatModel
    max_tokens: int
    mark: str
    on_widened: Callable[[tuple[Hit, ...]], None]
    before: Dialogue = NOTHING_SAID
    follows: bool = False
    _left_out: tuple[Hit, ...] = PrivateAttr(default=())
    _told: Dialogue = PrivateAttr(default=NOTHING_SAID)

    @property
    def usage(self) -> Usage:
        """Tokens of the last prompt and, where it came to an end, of the answer to it."""
        asked = cast(LangChainModel, self.llm_chain.llm)
        told = self._told.messages
        return asked.usage or Usage(self.model.prompt_tokens(told) if told else 0, 0)

    @property
    def left_out(self) -> tuple[Hit, ...]:
        """Passages that were found and are not in the last prompt."""
        return self._left_out

    @property
    def told(self) -> Dialogue:
        """The last prompt, with the passages that it numbers."""
        return self._told

    def combine_docs(
        self, docs: list[Document], callbacks: Callbacks = None, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        """Ask the model about the documents that fit; without documents it is not asked at all."""
        if not docs:
            return prompts.NOT_FOUND, {}
        return super().combine_docs(docs, callbacks=callbacks, **kwargs)

    def _get_inputs(self, docs: list[Document], **kwargs: Any) -> dict[str, Any]:
        inputs: dict[str, Any] = super()._get_inputs([], **kwargs)
        hits = hits_of(docs)
        new = self.before.new(hits, follows=self.follows)
        if new is not None and self._fill(inputs, self.before, new, hits):
            return inputs
        self._fill(inputs, NOTHING_SAID, hits, hits)
        return inputs

    def _fill(self, inputs: dict[str, Any], before: Dialogue, new: Sequence[Hit], hits: Sequence[Hit]) -> bool:
        """Put what fits of the new passages into the prompt behind a dialogue; False where not all of them do."""
        prompt = cast(ChatPromptTemplate, self.llm_chain.prompt)
        heads = (before.again(hits), prompts.MARKED.fill(mark=self.mark) if new else "")
        if before.messages:
            known: dict[str, Any] = {"earlier": to_langchain(before.messages[1:]), "history": ""}
            prompt = prompt.partial(**known)
        frame = from_langchain(prompt.format_messages(**inputs | {self.document_variable_name: self._joined(heads)}))
        room = self.model.context_tokens - self.max_tokens - self.model.prompt_tokens(frame)
        first, count = len(before.hits) + 1, self.model.count_tokens
        texts = list(fitting(numbered([replace(hit, around=()) for hit in new], first, self.mark), room, count))
        if before.messages and len(texts) < len(new):
            return False
        fitted = [replace(hit, around=()) for hit in new[: len(texts)]]
        if any(hit.around for hit in new):
            fitted = widened(new[: len(texts)], room - sum(count(text) + 2 for text in texts), count)
            texts = numbered(fitted, first, self.mark)
        told = (*before.hits, *fitted)
        ids = {hit.chunk_id for hit in told}
        rest = [replace(hit, around=()) for hit in hits if hit.chunk_id not in ids]
        self._left_out = tuple(rest)
        if before.messages or any(hit.around for hit in hits):
            self.on_widened((*told, *rest))
        inputs[self.document_variable_name] = self._joined((*heads, *texts))
        self.llm_chain.prompt = prompt
        self._told = Dialogue(from_langchain(prompt.format_messages(**inputs)), told)
        return True

    def _joined(self, texts: Sequence[str]) -> str:
        return self.document_separator.join(filter(None, texts))


def hits_of(documents: Sequence[Document]) -> tuple[Hit, ...]:
    """The hits that a retriever's documents carry."""
    return tuple(document.metadata["hit"] for document in documents)


def numbered(hits: Sequence[Hit], first: int, mark: str) -> list[str]:
    """Passages for a prompt, numbered from `first` in the order of the hits, with the question's mark."""
    return [
        prompts.passage(number, f"{hit.document.title}, page {hit.page_label or hit.page}", text_of(hit), mark)
        for number, hit in enumerate(hits, start=first)
    ]


def fitting(texts: Sequence[str], room: int, count: Callable[[str], int]) -> Iterator[str]:
    """The first texts that fit into `room` tokens together; a shorter one does not overtake a longer one."""
    for text in texts:
        room -= count(text) + 2  # what separates two passages
        if room < 0:
            return
        yield text


def extractive_chain(
    retriever: BaseRetriever,
    encoder: Encoder,
    max_sentences: int,
    aim: Callable[[], Aim] = Aim,
    parts: Callable[[], Mapping[str, Retrieval]] = dict,
) -> RetrievalQA:
    """RetrievalQA that quotes; see `ExtractiveChain`."""
    combine = ExtractiveChain(encoder=encoder, max_sentences=max_sentences, aim=aim, parts=parts)
    return RetrievalQA(retriever=retriever, combine_documents_chain=combine, return_source_documents=True)


def model_chain(
    retriever: BaseRetriever,
    model: ChatModel,
    *,
    max_tokens: int,
    history: str,
    cancelled: Callable[[], bool],
    template: str = "",
    on_widened: Callable[[tuple[Hit, ...]], None] = lambda hits: None,
    before: Dialogue = NOTHING_SAID,
    follows: bool = False,
    mark: str,
) -> RetrievalQA:
    """RetrievalQA that lets a language model write from numbered passages. `max_tokens` is the longest answer.

    `template` takes the place of Lectern's own prompt; see `AnsweringSettings.prompt` for its places. `on_widened` is
    given the hits in the order of their numbers, with what of `around` went into the prompt. `before` is what the
    model was told and said last; `follows` says that the question is about that. `mark` is the question's, for the
    delimiters of its passages.
    """
    combine = BudgetedStuffChain(
        llm_chain=LLMChain(
            llm=LangChainModel(model=model, max_tokens=max_tokens, cancelled=cancelled),
            prompt=_prompt(template, history),
        ),
        document_variable_name="context",
        model=model,
        max_tokens=max_tokens,
        mark=mark,
        on_widened=on_widened,
        before=NOTHING_SAID if template else before,
        follows=follows,
    )
    return RetrievalQA(retriever=retriever, combine_documents_chain=combine, return_source_documents=True)


def _prompt(template: str, history: str) -> ChatPromptTemplate:
    """The messages of a written answer, with places for question and passages; `template` is the user's alone."""
    known: dict[str, Any] = {"not_found": prompts.NOT_FOUND, "history": history, "earlier": []}
    if template:
        bare = ChatPromptTemplate.from_messages([("human", template)])
    else:
        rules = SystemMessage(prompts.RULES.fill(not_found=prompts.NOT_FOUND))
        bare = ChatPromptTemplate.from_messages([rules, MessagesPlaceholder("earlier"), ("human", prompts.ANSWER.text)])
    return bare.partial(**{name: value for name, value in known.items() if name in bare.input_variables})


def run(chain: RetrievalQA, query: str, listener: Listener) -> str:
    """Ask the chain; what it writes goes to the listener as it comes. Returns the whole text."""
    # A tracing variable in the environment would otherwise send questions and passages to LangSmith.
    with tracing_context(enabled=False):
        return str(chain.invoke({"query": query}, config={"callbacks": [listener]})["result"])
