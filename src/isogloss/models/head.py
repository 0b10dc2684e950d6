"""From hidden states to log-probabilities at the asked positions only, without holding positions × vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

from ..errors import IsoglossError
from .questions import ARGMAX, LOGPROB, NAN, Answer, Question

LOGITS_AT_ONCE = 2_000_000
TOLERANCE = 1e-4


class _Reached(Exception):
    """Carries the hidden states that arrived at the output matrix."""

    def __init__(self, states: Tensor) -> None:
        self.states = states


class Head:
    """A model's own language-model head, applied to hidden states that were gathered before it.

    `blocked` is set when a check at load showed that the output matrix alone, taken in blocks of the vocabulary,
    gives what the model's own head gives; otherwise the model's own head is used, in blocks of positions.
    """

    def __init__(self, net: Any, body: nn.Module, *, inputs: Callable[[Tensor], dict[str, Any]]) -> None:
        self.net, self.body, self.inputs = net, body, inputs
        self.matrix = net.get_output_embeddings()
        self.blocked = False

    def fits(self, states: Tensor, logits: Tensor) -> bool:
        """Whether the head, given the body's hidden states, gives the logits that the whole model gives."""
        try:
            own = self._run(states)
        except (RuntimeError, IndexError, AttributeError, TypeError, ValueError):
            return False
        return own.shape == logits.shape and gap(logits, own) < TOLERANCE

    def check(self, states: Tensor) -> None:
        """Compare the blocked way with the model's own head on some hidden states, also on large ones."""
        sample = torch.cat([states, 30 * states])
        targets = torch.arange(len(sample), device=sample.device) % self.net.config.get_text_config().vocab_size
        own = self._own(sample, targets)
        try:
            blocked = self._blocked(sample, targets)
        except (_Missed, RuntimeError, IndexError, AttributeError):
            return
        self.blocked = gap(own, blocked) < TOLERANCE

    def logprobs(self, states: Tensor, targets: Tensor) -> Tensor:
        """The log-probability of each target given each hidden state: [n, hidden], [n] -> [n]."""
        return self._blocked(states, targets) if self.blocked else self._own(states, targets)

    def logits(self, states: Tensor) -> Iterator[Tensor]:
        """The model's own logits, [some, vocabulary] at a time, in float32."""
        size = self.net.config.get_text_config().vocab_size
        for block in states.split(max(1, LOGITS_AT_ONCE // size)):
            yield self._run(block).float()

    def argmax(self, states: Tensor) -> Tensor:
        """The most probable token at each hidden state."""
        return torch.cat([logits.argmax(-1) for logits in self.logits(states)])

    def _own(self, states: Tensor, targets: Tensor) -> Tensor:
        found, start = [], 0
        for logits in self.logits(states):
            wanted = targets[start : start + len(logits)]
            found.append(logits.log_softmax(-1).gather(1, wanted[:, None])[:, 0])
            start += len(logits)
        return torch.cat(found)

    def _run(self, states: Tensor) -> Tensor:
        with _replaced(self.body, states):
            output = self.net(**self.inputs(states))
        return logits_of(output)[0]

    def _before_matrix(self, states: Tensor) -> Tensor:
        def reach(hidden: Tensor) -> Tensor:
            raise _Reached(hidden)

        own, self.matrix.forward = self.matrix.forward, reach
        try:
            self._run(states)
        except _Reached as reached:
            return reached.states[0]
        finally:
            self.matrix.forward = own
        raise _Missed

    def _blocked(self, states: Tensor, targets: Tensor) -> Tensor:
        weight, bias = self.matrix.weight, getattr(self.matrix, "bias", None)
        found = []
        for rows, wanted in zip(states.split(1024), targets.split(1024), strict=True):
            hidden = self._before_matrix(rows)
            top = torch.full((len(hidden),), -torch.inf, device=hidden.device)
            total = torch.zeros(len(hidden), device=hidden.device)
            step = max(256, LOGITS_AT_ONCE // len(hidden))
            for start in range(0, len(weight), step):
                part = None if bias is None else bias[start : start + step]
                logits = nn.functional.linear(hidden, weight[start : start + step], part).float()
                high = torch.maximum(top, logits.amax(1))
                total = total * (top - high).exp() + (logits - high[:, None]).exp_().sum(1)
                top = high
            asked = (hidden * weight[wanted]).float().sum(1) + (0 if bias is None else bias[wanted].float())
            found.append(asked - top - total.log())
        return torch.cat(found)


class _Missed(Exception):
    """The model's head does not go through its output matrix."""


def find_head(
    net: Any, bodies: Sequence[nn.Module], *, inputs: Callable[[Tensor], dict[str, Any]], sample: dict[str, Any]
) -> Head:
    """The head behind the first of the bodies that gives the hidden states which the network makes its logits from."""
    for body in bodies:
        head, caught = Head(net, body, inputs=inputs), list[Tensor]()
        hook = body.register_forward_hook(lambda module, given, output: caught.append(output.last_hidden_state[0]))
        try:
            logits = logits_of(net(**sample))[0]
        finally:
            hook.remove()
        if bool(logits.isnan().any()):
            raise IsoglossError(NAN)
        if caught and head.fits(caught[0], logits):
            head.check(caught[0])
            return head
    raise IsoglossError(
        f"The head of a '{net.config.model_type}' model cannot be told from its body. Choose another model."
    )


def blank_inputs(states: Tensor) -> dict[str, Any]:
    """Inputs as long as the hidden states, for a network whose body does not read them."""
    return {"input_ids": torch.zeros(1, len(states), dtype=torch.long, device=states.device)}


def logits_of(output: Any) -> Tensor:
    """The vocabulary's logits in what a network gives, also where it has a next-sentence head beside."""
    found: Tensor = output.prediction_logits if hasattr(output, "prediction_logits") else output.logits
    return found


def gap(wanted: Tensor, found: Tensor) -> float:
    """The largest difference, by the scale of what is wanted; NaN when there is any."""
    return float((wanted - found).abs().max() / wanted.abs().max().clamp(min=1e-6))


@contextmanager
def _replaced(body: nn.Module, states: Tensor) -> Iterator[None]:
    """While this is open, the body gives these hidden states whatever it is asked."""
    pooled = states[:1]
    output = BaseModelOutputWithPoolingAndCrossAttentions(last_hidden_state=states[None], pooler_output=pooled)
    had = "forward" in body.__dict__
    own = body.forward
    body.forward = lambda *args, **kwargs: output
    try:
        yield
    finally:
        if had:
            body.forward = own
        else:
            del body.forward


def read_head(
    head: Head, states: Tensor, questions: Sequence[Question], asked: Sequence[tuple[int, int]]
) -> dict[int, Answer]:
    """Log-probabilities or most probable tokens at the positions that the questions name; `asked` pairs row and place."""
    found: dict[int, Answer] = {}
    for want in (LOGPROB, ARGMAX):
        chosen = [(row, place) for row, place in asked if questions[place].want == want]
        if not chosen:
            continue
        rows = [row for row, place in chosen for _ in questions[place].positions]
        columns = [position for _, place in chosen for position in questions[place].positions]
        gathered = states[rows, columns]
        if want == LOGPROB:
            targets = [target for _, place in chosen for target in questions[place].targets]
            values = head.logprobs(gathered, torch.tensor(targets, device=states.device))
        else:
            values = head.argmax(gathered)
        sizes = [len(questions[place].positions) for _, place in chosen]
        found |= {place: as_array(part) for (_, place), part in zip(chosen, values.split(sizes), strict=True)}
    return found


def as_array(values: Tensor) -> Answer:
    """A tensor as a float64 array."""
    return np.asarray(values.double().cpu().numpy(), dtype=np.float64)
