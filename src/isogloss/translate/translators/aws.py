"""AWS Translate: BLANK is kept by a custom terminology; keys come from the environment, as boto3 reads it."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import IsoglossError, require
from ...items import BLANK
from . import LanguagePair, Opened, Translator, number

TERMINOLOGY = "isogloss-blank"
PRICE = 15.0
OTHER_CODES = {"zh-Hant": "zh-TW", "zh-Hans": "zh", "pt-BR": "pt", "fa-AF": "fa-AF"}


def open_aws(pair: LanguagePair, options: Mapping[str, str]) -> Opened:
    """AWS Translate in a region, after the terminology that keeps BLANK was made there."""
    boto3 = require("boto3", extra="translate")
    config = require("botocore.config", extra="translate").Config(retries={"mode": "adaptive", "max_attempts": 8})
    try:
        client = boto3.client("translate", region_name=options.get("region"), config=config)
    except Exception as error:
        raise IsoglossError(
            f"AWS cannot be reached: {str(error).rstrip('.')}. Use `options={{'region': 'eu-central-1'}}`, or set it up."
        ) from error
    return open_client(client, pair, rate=number(options, "rate", default=10))


def open_client(client: Any, pair: LanguagePair, *, rate: float) -> Opened:
    """A translator around an open client, at most `rate` texts a second; the terminology is made before the first text."""
    codes = OTHER_CODES.get(pair.source, pair.source), OTHER_CODES.get(pair.target, pair.target)
    created: list[str] = []

    def translate(texts: Sequence[str]) -> list[str]:
        if not created:
            _call(client.import_terminology, **terminology(*codes))
            created.append(TERMINOLOGY)
        request = {"TerminologyNames": [TERMINOLOGY], "SourceLanguageCode": codes[0], "TargetLanguageCode": codes[1]}
        responses = (_call(client.translate_text, Text=text, **request) for text in texts)
        return [str(response["TranslatedText"]) for response in responses]

    return Opened(
        "aws translate", translate, batch=1, pause=1 / rate, paid=True, price=PRICE, placeholders=(BLANK, "XBLANKX")
    )


def terminology(source: str, target: str) -> dict[str, Any]:
    """The request that makes AWS leave BLANK as it is."""
    table = f"{source},{target}\n{BLANK},{BLANK}\n"
    return {
        "Name": TERMINOLOGY,
        "MergeStrategy": "OVERWRITE",
        "Description": "Keeps the word BLANK as it is.",
        "TerminologyData": {"File": table.encode(), "Format": "CSV", "Directionality": "UNI"},
    }


def _call(operation: Any, **request: Any) -> Any:
    exceptions = require("botocore.exceptions", extra="translate")
    try:
        return operation(**request)
    except (exceptions.ClientError, exceptions.BotoCoreError) as error:
        raise IsoglossError(f"AWS Translate refused: {error}. What was translated is kept; run it again.") from error


translator = Translator(
    title="AWS Translate, charged per character",
    open=open_aws,
    options={
        "region": "the AWS region, such as eu-central-1; by default the value of AWS_DEFAULT_REGION",
        "rate": "maximum texts per second; by default 10",
    },
)
