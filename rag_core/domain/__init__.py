"""The words of the house as frozen dataclasses without behaviour.

Pages count from 1. Spans are character offsets into a page's text, end exclusive. Boxes are fractions of the page's
width and height, measured from its top left corner, so that they fit a picture of any size.
"""

from rag_core.domain.access import KEY_PREFIX, ROLES, AccessKey, AuditEntry, Membership, Role, address_of
from rag_core.domain.answers import (
    COURTESY,
    Answer,
    Citation,
    Conversation,
    Hit,
    Message,
    Outcome,
    Retrieval,
    ScoreKind,
    Sentence,
    Step,
    StreamEvent,
    Trace,
)
from rag_core.domain.clusters import ChunkCluster, ClusterTree, DocumentCluster
from rag_core.domain.documents import (
    CARD_VERSION,
    KNOWN,
    AddEvent,
    Chunk,
    ChunkEdit,
    Document,
    DocumentCard,
    Guide,
    GuideLine,
    ParsedDocument,
    Profile,
    Stage,
    State,
    Upload,
)
from rag_core.domain.evaluation import (
    Calibration,
    CalibrationBin,
    Configuration,
    Difference,
    Drawing,
    Estimate,
    Field,
    FieldKind,
    Found,
    Gold,
    ImportReport,
    Metric,
    MetricKind,
    MetricUnit,
    Origin,
    Question,
    QuestionSet,
    Result,
    RowProblem,
    Run,
    RunState,
)
from rag_core.domain.insights import (
    AskedIn,
    CorpusMap,
    DocumentUse,
    Insights,
    JobCount,
    JobFailure,
    NotFound,
    Place,
    QuestionGroup,
    StageTime,
    TimeStep,
    TokenUse,
    Trust,
    UnusedDocument,
)
from rag_core.domain.jobs import Job, JobState
from rag_core.domain.pages import (
    WHISPER,
    AmountNote,
    Box,
    Figure,
    HiddenText,
    Line,
    Page,
    PageImage,
    Section,
    Table,
)
from rag_core.domain.search import (
    Collection,
    Considered,
    DocumentFilter,
    QuestionKind,
    Scope,
    Searched,
    SearchMode,
    Understood,
)
from rag_core.domain.sources import (
    Coverage,
    FollowedSource,
    KnownSource,
    LeftOut,
    SourceKind,
    SourceReport,
    Visit,
    WebAddress,
)
from rag_core.domain.state import (
    BackupReport,
    Finding,
    LibraryServer,
    LibraryStatus,
    Machine,
    ModelFile,
    ModelServer,
    ModelStatus,
    Progress,
    Report,
    RuntimeTrial,
    SuggestedModel,
    TargetProfile,
    UnfinishedDownload,
)
from rag_core.domain.tables import (
    ColumnReading,
    ColumnType,
    TableAnswer,
    TableColumn,
    TableCondition,
    TablePlan,
    TableReading,
    TableRow,
    TableRows,
    TableView,
)
