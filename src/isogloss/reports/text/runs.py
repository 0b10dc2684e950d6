"""What lies in runs as text for a terminal: a list of them, an item token by token, the extremes; sentences after a warning."""

from collections.abc import Sequence
from typing import Any

from ...analysis.inspection import WHO

CHOICE = "choice"
WARNING = "Content warning: the data contains stereotypes, some of them offensive."


def inspection_as_text(rows: Sequence[dict[str, Any]]) -> str:
    """Runs or candidates for a terminal."""
    if rows and "folder" in rows[0]:
        return "\n".join(
            f"{run['model']}  {run['dataset']}  {run['language']}  {run['method']}  {run['items']} items  {run['status']}"
            + (f"  revision {run['revision']}" if run["revision"] else "")
            + f"\n    {run['folder']}"
            for run in rows
        )
    lines = [WARNING]
    for row in rows:
        lines.append(f"\n{row['model']} · {row['language']} · {row['method']} · {row['role']}")
        if row["context"]:
            lines.append(f"  context  {row['context']}")
        lines.append(f"  text     {row['text']}")
        if "answer" in row:
            rule = f" by the rule '{row['rule']}'" if row.get("rule") else ""
            text = f"{row['answer']!r} is {row['verdict']}{rule}" if row["answer"] is not None else "not asked"
            lines.append(f"  {row['prompt'] or 'answer':8} {row['order'] or ''} {text}")
        elif row["value"] is None:
            lines.append("  score    none: this candidate could not be scored")
        elif row["quantity"] == CHOICE:
            lines.append(
                f"  picked   {100 * row['value']:.1f} % of the answers, which are: {', '.join(row['pieces'] or [])}"
            )
        else:
            marks = ", truncated" * bool(row["truncated"]) + f", {row['unknown']} unknown" * bool(row["unknown"])
            lines.append(f"  {row['quantity']:8} {row['value']:.4g} over {row['tokens']} tokens{marks}")
            pairs = zip(row["pieces"] or [], row["logprobs"] or [], strict=False)
            lines += [f"    {logprob:9.4f}  {piece!r}" for piece, logprob in pairs]
    return "\n".join(lines)


def extremes_as_text(rows: Sequence[dict[str, Any]]) -> str:
    """The expressions for a terminal, after a warning."""
    lines = [WARNING]
    seen = ""
    for row in rows:
        heading = " · ".join([*(row[name] for name in WHO), f"the stereotype preferred {row['end']}"])
        lines += [f"\n{heading}"] if heading != seen else []
        seen = heading
        kind = f"{row['statement']}, " if row["statement"] else ""
        many = "contrast" if row["contrasts"] == 1 else "contrasts"
        lines.append(f"  {row['bias']:+8.3f}  {row['text']}  ({kind}{row['contrasts']} {many}, {row['id']})")
    return "\n".join(lines)
