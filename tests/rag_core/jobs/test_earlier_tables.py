"""What waits in a library of an earlier version goes on as jobs of this one."""

from __future__ import annotations

import json

import psycopg

from rag_core import Library, Settings
from rag_core.domain import Configuration, Question
from tests.conftest import add_text
from tests.until import until

# The tables as they were up to 0024.
_BEFORE = (
    "ALTER TABLE jobs DROP COLUMN owner, DROP COLUMN token, DROP COLUMN attempts, DROP COLUMN stopping",
    "DROP INDEX jobs_open",
    "DROP TABLE job_owners",
    "ALTER TABLE documents DROP COLUMN chunking, DROP COLUMN table_notes",
    "DROP TABLE table_readings",
    "ALTER TABLE conversations DROP COLUMN collection",
    "DROP FUNCTION visible_documents, visible_collections",
    "DROP VIEW shared_with, collected",
    "DROP TABLE collection_documents, collection_members, collections",
    "ALTER TABLE documents DROP COLUMN owner, ADD UNIQUE (sha256)",
    "ALTER TABLE conversations DROP COLUMN owner",
    "ALTER TABLE access_keys DROP COLUMN person",
    "ALTER TABLE left_out_sources DROP COLUMN owner",
    "ALTER TABLE chunk_clusters DROP COLUMN summary",
    "ALTER TABLE document_summaries DROP COLUMN made_by",
    "DROP TABLE answer_cache",
    "DROP FUNCTION lectern_notice CASCADE",
    "DROP TABLE leases",
    "ALTER TABLE documents DROP COLUMN server",
    "DROP VIEW index_waiting",
    "ALTER TABLE index_cursors DROP COLUMN server, ADD PRIMARY KEY (index_name)",
    "ALTER TABLE index_backlog DROP COLUMN server, ADD PRIMARY KEY (index_name, document_id)",
    "CREATE VIEW index_waiting AS SELECT index_name, document_id, attempts, error FROM index_backlog UNION ALL"
    " SELECT k.index_name, c.document_id, 0, NULL FROM index_cursors k JOIN changes c ON c.id > k.change_id",
    "INSERT INTO preferences (name, value) SELECT 'paired', id FROM servers",
    "DROP TABLE servers",
    "DROP INDEX sources_name, documents_added, messages_created, citations_document",
    "ALTER TABLE pages DROP COLUMN figures",
    "ALTER TABLE conversations DROP COLUMN agent",
    "ALTER TABLE documents DROP COLUMN is_lasting",
    "DELETE FROM migrations WHERE name >= '0025'",
)
_TEXT = "\n\n".join(f"Paragraph {number} tells of a river and of its bridge. " * 6 for number in range(6))


def test_a_killed_rechunking_and_queued_runs_go_on(settings: Settings) -> None:
    with Library.open(settings) as library:
        ids = [add_text(library, f"d{number}.txt", f"{number}. {_TEXT}").id for number in range(12)]
        library.evaluation.apply(Configuration("small", {"chunking.size": 200, "chunking.overlap": 20}))
        list(library.maintenance.rechunk())
        chunking = library.settings.chunking.key
        asked = library.evaluation.create("Rivers", [Question("1", "What of the river?")])
        (queued,) = library.evaluation.begin(asked.id, [Configuration("As it is")])
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value()) as connection:
        for statement in _BEFORE:
            connection.execute(statement)
        left = json.dumps({"chunking": chunking, "ids": ids[8:]})
        connection.execute("INSERT INTO preferences (name, value) VALUES ('chunk_anew', %s)", (left,))
        for job_id, kind in (("r", "rechunk"), (queued.id, "evaluate")):
            connection.execute(
                "INSERT INTO jobs (id, kind, state, progress) VALUES (%s, %s, 'running', %s)",
                (job_id, kind, json.dumps({"stage": "", "done": 0, "total": 0, "note": ""})),
            )
    with Library.open(settings) as library:
        assert library.maintenance.to_rechunk() == 4
        library.jobs.resume()
        until(lambda: library.jobs.ended("rechunk", "evaluate") == 2)
        rechunked, run = library.jobs.get("r"), library.evaluation.run(queued.id)
        assert (rechunked.state, rechunked.resumed, rechunked.result.total) == ("done", True, 4)
        assert (library.maintenance.to_rechunk(), run.state, run.done) == (0, "done", 1)
