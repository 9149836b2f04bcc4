"""An agent: plans searches, reads, says what is missing, searches again, and has the best of it all written from.

LangChain's agent on LangGraph runs the rounds and the tools. What it takes for its chat model is a `Planner`, which
asks a language model for the next calls, in JSON, or goes by rules: where there is no model, and where one's reply has
another form. Importing this imports LangChain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langsmith.run_helpers import tracing_context
from pydantic import BaseModel, ValidationError

from rag_core.answering.citations import CitationWriter
from rag_core.answering.encoding import Encoder
from rag_core.answering.passages import merge_hits, source_of
from rag_core.answering.planning.calculating import calculate
from rag_core.answering.planning.notebook import Notebook
from rag_core.answering.planning.parts import keywords, parts_of, searches_of
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import PassageStrategy, Strategy, best_wording
from rag_core.answering.strategies.written import OpenModel
from rag_core.answering.streaming import Progress
from rag_core.answering.tables.format_amount import said
from rag_core.answering.tables.tables import cells_of
from rag_core.answering.written import Written
from rag_core.domain import Hit, Retrieval, Step
from rag_core.errors import Cancelled
from rag_core.models import ChatModel, prompts
from rag_core.models.messages import prompted
from rag_core.models.registry import EXTRACTIVE
from rag_core.text.pages import counted

ROUNDS = 3
CALLS = 3
"""The most calls that a model makes in a round."""
_PLAN_TOKENS = 400
_PASSAGE_CHARS = 700
_MOST_CELLS = 40
_MOST_RANKINGS = 5  # questions and searches that the passages are ranked for

Tool = Literal["search", "read_page", "read_table", "calculate"]


class Call(BaseModel):
    """One use of a tool."""

    tool: Tool
    input: str


class Plan(BaseModel):
    """What a language model replies: what is known so far, what is missing, and what may find that."""

    draft: str
    missing: str
    calls: list[Call]


class Planner(BaseChatModel):
    """What LangChain's agent takes for a chat model: `plan` says which tools come next, none to end."""

    plan: Callable[[Sequence[BaseMessage]], Sequence[Call]]

    @property
    def _llm_type(self) -> str:
        return "lectern-planner"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Planner:  # type: ignore[override]
        """The same: it knows its tools."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        calls = [
            {"name": call.tool, "args": {"input": call.input}, "id": f"{len(messages)}.{number}"}
            for number, call in enumerate(self.plan(messages))
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=calls))])


class Agentic(Strategy):
    """Searches in rounds, then has another strategy write."""

    def __init__(self, writer: PassageStrategy, encoder: Encoder, open_model: OpenModel) -> None:
        self._writer = writer
        self._encoder = encoder
        self._open_model = open_model

    def write(self, question: Question, search: Search, progress: Progress) -> Written:
        """Write from the best of all that was found."""
        model = None if question.model == EXTRACTIVE else self._open_model(question)
        agent = Agent(question, search, self._encoder, model, progress)
        return self._writer.write_from(question, agent.run, progress)

    def check(self, question: Question, written: Written, writer: CitationWriter, *, stopped: bool) -> Written:
        """By whoever wrote it."""
        return self._writer.check(question, written, writer, stopped=stopped)


class Agent:
    """Finds the passages for one question. `model` is None where there is none."""

    def __init__(
        self, question: Question, search: Search, encoder: Encoder, model: ChatModel | None, progress: Progress
    ) -> None:
        self._question = question
        self._query = ""
        self._search = search
        self._encoder = encoder
        self._model = model
        self._progress = progress
        self._notebook = Notebook(search, encoder)
        self._questions: tuple[str, ...] = ()
        self._until = time.monotonic() + question.settings.answering.agent_s
        self._round = self._known = 0
        self._last: list[Call] = []
        self._made: set[tuple[str, str]] = set()
        self._steps: list[Step] = []
        self._sums: list[str] = []

    def run(self) -> Retrieval:
        """Search in rounds; the best of all that was found.

        Raises Cancelled, ModelUnavailable, and whatever the search raises.
        """
        self._query = best_wording(self._question, self._search, self._encoder, self._progress)
        self._questions = parts_of(self._query, self._question.text)
        graph = create_agent(Planner(plan=self._plan), self._tools())
        with tracing_context(enabled=False):  # nothing leaves the machine
            graph.invoke({"messages": [HumanMessage(self._query)]}, RunnableConfig(max_concurrency=1))
        if not self._notebook.searches:
            self._notebook.search(self._query)
        newest = reversed(self._notebook.searches)
        rankings = [*dict.fromkeys((*self._questions, *newest))][:_MOST_RANKINGS]
        parts = self._questions if len(self._questions) > 1 else ()
        found = self._notebook.handed(
            self._query, self._notebook.best(rankings), {part: self._notebook.of(part) for part in parts}
        )
        self._progress.lap("agent")
        return replace(found, trace=replace(found.trace, steps=tuple(self._steps)), sums=tuple(self._sums))

    def _plan(self, messages: Sequence[BaseMessage]) -> list[Call]:
        """The calls of the next round, none where nothing is missing or the time is over. Raises Cancelled."""
        self._round += 1
        self._progress.check()
        if self._round > ROUNDS or self._is_over():
            return []
        calls = self._new(self._by_model(messages) if self._model is not None else self._by_rules())
        if self._round == 1 and not calls:
            calls = self._new(self._by_rules())
        if self._late():
            self._tell("plan", "The time for searching was over.")
            return []
        if calls and self._round == 1:
            self._tell("plan", f"Planned: {'; '.join(call.input for call in calls)}")
        self._last = calls
        return calls

    def _is_over(self) -> bool:
        """Whether another round is in vain: the last brought nothing new, or a small model's reader is sure."""
        before, self._known = self._known, len(self._notebook)
        if self._round == 1 or self._model is None:  # the rules stop by themselves
            return False
        if before == self._known and all(call.tool == "search" for call in self._last):
            self._tell("plan", "Nothing new was found.")
            return True
        return self._model.is_small and all(map(self._notebook.answers, self._questions))

    def _new(self, calls: Sequence[Call]) -> list[Call]:
        """The first calls that were not made before."""
        new = {(call.tool, call.input.strip()): call for call in calls if call.input.strip()}
        chosen = [call for key, call in new.items() if key not in self._made][: CALLS + 1]
        self._made.update((call.tool, call.input.strip()) for call in chosen)
        return chosen

    def _by_model(self, messages: Sequence[BaseMessage]) -> list[Call]:
        """What the language model asks for; what the rules do where its reply has another form."""
        text = self._asked(self._found(messages))
        try:
            plan = Plan.model_validate_json(text[text.find("{") : text.rfind("}") + 1])
        except ValidationError:
            return self._by_rules()
        if self._round > 1:
            told = (f"Known: {plan.draft}" if plan.draft else "", f"Missing: {plan.missing}" if plan.missing else "")
            self._tell("plan", " ".join(filter(None, told)) or "Nothing is missing.")
        # A model words searches, and too few of them: the question itself is always one.
        itself = [Call(tool="search", input=self._query)] if self._round == 1 and plan.calls else []
        return [*itself, *plan.calls[:CALLS]]

    def _by_rules(self) -> list[Call]:
        """The question's parts; then, for those not answered surely, their content words and the best pages."""
        searched = set(self._notebook.searches)
        if todo := [text for text in searches_of(self._questions) if text not in searched]:
            return [Call(tool="search", input=text) for text in todo]
        unsure = [question for question in self._questions if not self._notebook.answers(question)]
        if unsure:
            self._tell("plan", f"Not answered yet: {' '.join(unsure)}")
        again = [Call(tool="search", input=keywords(one)) for one in unsure if keywords(one) not in searched]
        pages = [hits[0] for one in unsure if (hits := self._notebook.of(one))] if self._question.contents else []
        return again or [Call(tool="read_page", input=str(self._notebook.number(hit))) for hit in pages]

    def _asked(self, found: str) -> str:
        """The model's reply to the question and what was found, as much of it as fits. Raises Cancelled."""
        model = self._model
        if model is None:
            return ""
        most = min(_PLAN_TOKENS, model.context_tokens // 4)
        left = model.context_tokens - most - model.prompt_tokens(prompted(self._prompt("")))
        while found and (tokens := model.count_tokens(found)) > left:
            found = found[: max(0, len(found) * left // tokens - 1)]
        asked = model.stream(
            prompted(self._prompt(found)), max_tokens=most, json_schema=Plan.model_json_schema(),
            cancelled=lambda: self._progress.stopping() or self._late(),
        )  # fmt: skip
        try:
            with closing(asked) as deltas:
                return "".join(delta.text for delta in deltas)
        except Cancelled:
            if self._progress.stopping():
                raise
            return ""  # the time is over

    def _prompt(self, found: str) -> str:
        return prompts.PLAN.fill(
            question=self._query, found=found, round=str(self._round), rounds=str(ROUNDS)
        )  # fmt: skip

    def _found(self, messages: Sequence[BaseMessage]) -> str:
        """What the tools gave, the newest first, so that it is the oldest that gives way."""
        results = [str(message.content) for message in messages if isinstance(message, ToolMessage)]
        marked = [prompts.MARKED.fill(mark=self._question.mark)] if results else []
        return "\n\n".join((*marked, *reversed(results)))

    def _tools(self) -> list[BaseTool]:
        tools = (self.search, self.read_page, self.read_table, self.calculate)
        return [StructuredTool.from_function(tool) for tool in tools]

    def search(self, input: str) -> str:
        """Find passages within the scope of the conversation."""
        if self._late():
            return ""
        hits, new = self._notebook.search(input)
        again = "" if new == len(hits) else f", {new} of them new"
        self._tell("search", f"Searched for “{input}”: {len(hits)} passages{again}")
        return f"search {input}:\n{self._shown(hits)}"

    def read_page(self, input: str) -> str:
        """Show the rest of a passage's page."""
        hit = self._passage(input)
        contents = self._question.contents
        if hit is None or contents is None:
            return f"There is no page of passage {input}."
        page = contents.page_of(hit)
        self._notebook.add(page)
        self._tell("read_page", f"Read page {hit.page_label or hit.page} of {hit.document.title}")
        return f"read_page {input}:\n{self._shown(page)}"

    def read_table(self, input: str) -> str:
        """List the figures of a passage's tables, each with its row and column."""
        hit = self._passage(input)
        if hit is None:
            return f"There is no passage {input}."
        passages = merge_hits([hit, *hit.around])
        cells = [said(cell) for number, one in enumerate(passages) for cell in cells_of(one, number)]
        lines = list(filter(None, cells))[:_MOST_CELLS]
        where = counted(hit.page, hit.page_label)
        self._tell("read_table", f"Read {len(lines)} figures in the tables of {hit.document.title}, {where}")
        number = self._notebook.number(hit)
        shown = prompts.passage(number, hit.document.title, "\n".join(lines), self._question.mark)
        return f"read_table {input}:\n{shown}"

    def calculate(self, input: str) -> str:
        """Work out a sum of numbers."""
        try:
            worked = f"{input} = {calculate(input):.10g}"
        except ValueError as error:
            return str(error)
        self._sums.append(worked)
        self._tell("calculate", f"Worked out {worked}")
        return worked

    def _passage(self, number: str) -> Hit | None:
        number = number.strip(" []")
        return self._notebook.passage(int(number)) if number.isascii() and number.isdigit() else None

    def _shown(self, hits: Sequence[Hit]) -> str:
        """Passages with their numbers in the notebook, as data."""
        return "\n".join(
            prompts.passage(
                self._notebook.number(hit), source_of(hit), hit.text[:_PASSAGE_CHARS], self._question.mark
            )
            for hit in hits
        )  # fmt: skip

    def _late(self) -> bool:
        return time.monotonic() > self._until

    def _tell(self, tool: str, text: str) -> None:
        step = Step(self._round, tool, text)
        self._steps.append(step)
        self._progress.tell_stage(text, step)
