"""From hidden states to log-probabilities at the asked positions only, without holding positions × vocabulary."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

from ..errors import IsoglossError
from .questions import ARGMAX, DISTRIBUTION, LOGPROB, NAN, VECTOR, Answer, Question

LOGITS_AT_ONCE = 8_000_000
LOGITS_IN_CACHE = 60_000  # a processor's cache is small: blocks of about a thousand tokens are the fastest there
LEAST_BLOCK = 1024
# exp of less adds nothing to a float32 sum of at least one, and takes 18 times as long where it underflows
LEAST_POWER = -80.0
TOLERANCE = 1e-4


class _Reached(Exception):
    """Carries the hidden states that arrived at the output matrix."""


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
        """Whether the head, given the body's hidden states, gives the logits that the whole model gives.

        If so, the blocked way is compared with the model's own head, also on large hidden states.
        """
        try:
            own = self._run(states)
        except (RuntimeError, IndexError, AttributeError, TypeError, ValueError):
            return False
        if own.shape != logits.shape or not gap(logits, own) < TOLERANCE:
            return False
        sample = torch.cat([states, 30 * states])
        positions = torch.arange(len(sample), device=sample.device)
        targets = positions % self.net.config.get_text_config().vocab_size
        own = self._own(sample, targets, index=positions)
        with suppress(RuntimeError, IndexError, AttributeError):
            self.blocked = gap(own, self._blocked(sample, targets, index=positions)) < TOLERANCE
        return True

    def logprobs(self, states: Tensor, targets: Tensor, *, index: Tensor | None = None) -> Tensor:
        """The log-probability of each target given the hidden state that `index` names (by default its own): [n].

        Targets that are asked for at the same hidden state share the sum over the vocabulary.
        """
        index = torch.arange(len(targets), device=states.device) if index is None else index
        return self._blocked(states, targets, index=index) if self.blocked else self._own(states, targets, index=index)

    def logits(self, states: Tensor) -> Iterator[Tensor]:
        """The model's own logits, [some, vocabulary] at a time, in float32."""
        size = self.net.config.get_text_config().vocab_size
        for block in states.split(max(1, LOGITS_AT_ONCE // size)):
            yield self._run(block).float()

    def argmax(self, states: Tensor) -> Tensor:
        """The most probable token at each hidden state."""
        return torch.cat([logits.argmax(-1) for logits in self.logits(states)])

    def _own(self, states: Tensor, targets: Tensor, *, index: Tensor) -> Tensor:
        logprobs, start = torch.empty(len(targets), device=states.device), 0
        for logits in self.logits(states):
            here = ((index >= start) & (index < start + len(logits))).nonzero()[:, 0]
            rows = index[here] - start
            asked, high = logits[rows, targets[here]], logits.amax(1)
            logprobs[here] = asked - (high + sum_of_powers(logits, high).log())[rows]
            start += len(logits)
        return logprobs

    def _run(self, states: Tensor) -> Tensor:
        output = BaseModelOutputWithPoolingAndCrossAttentions(last_hidden_state=states[None], pooler_output=states[:1])
        with patched_forward(self.body, lambda *inputs, **named: output):
            output_of_net = self.net(**self.inputs(states))
        return logits_of(output_of_net)[0]

    def _blocked(self, states: Tensor, targets: Tensor, *, index: Tensor) -> Tensor:
        def reach(hidden: Tensor) -> Tensor:
            raise _Reached(hidden)

        try:
            with patched_forward(self.matrix, reach):
                self._run(states)
            raise RuntimeError("The model's head does not go through its output matrix.")
        except _Reached as reached:
            hidden: Tensor = reached.args[0][0]
        weight, bias = self.matrix.weight, getattr(self.matrix, "bias", None)
        sums = torch.cat([self._log_sum_exp(rows) for rows in hidden.split(1024)])
        blocks = []
        for indices, wanted in zip(index.split(1024), targets.split(1024), strict=True):
            asked = (hidden[indices] * weight[wanted]).float().sum(1)
            blocks.append(asked - sums[indices] + (0 if bias is None else bias[wanted].float()))
        return torch.cat(blocks)

    def _log_sum_exp(self, hidden: Tensor) -> Tensor:
        """The logarithm of the summed exponentials of all logits, a block of the vocabulary at a time."""
        weight, bias = self.matrix.weight, getattr(self.matrix, "bias", None)
        top = torch.full((len(hidden),), -torch.inf, device=hidden.device)
        total = torch.zeros(len(hidden), device=hidden.device)
        most = LOGITS_IN_CACHE if hidden.device.type == "cpu" else LOGITS_AT_ONCE
        step = max(LEAST_BLOCK, most // len(hidden))
        for start in range(0, len(weight), step):
            part = None if bias is None else bias[start : start + step]
            logits = nn.functional.linear(hidden, weight[start : start + step], part).float()
            high = torch.maximum(top, logits.amax(1))
            total = total * (top - high).exp() + sum_of_powers(logits, high)
            top = high
        return top + total.log()


def sum_of_powers(logits: Tensor, high: Tensor) -> Tensor:
    """The sum over each row of exp(logit - high); the logits are used up."""
    return logits.sub_(high[:, None]).clamp_(min=LEAST_POWER).exp_().sum(1)


def find_head(
    net: Any, bodies: Sequence[nn.Module], *, inputs: Callable[[Tensor], dict[str, Any]], sample: dict[str, Any]
) -> Head:
    """The head behind the first of the bodies that gives the hidden states which the network makes its logits from."""
    for body in bodies:
        states: list[Tensor] = []  # that the body gave, if it was asked at all
        hook = body.register_forward_hook(
            lambda _, __, output, states=states: states.append(output.last_hidden_state[0])
        )
        try:
            logits = logits_of(net(**sample))[0]
        finally:
            hook.remove()
        if bool(logits.isnan().any()):
            raise IsoglossError(NAN)
        head = Head(net, body, inputs=inputs)
        if states and head.fits(states[0], logits):
            return head
    raise IsoglossError(
        f"The head of a '{net.config.model_type}' model cannot be separated from its body. Choose another model."
    )


def blank_inputs(states: Tensor) -> dict[str, Any]:
    """Inputs as long as the hidden states, for a network whose body does not read them."""
    return {"input_ids": torch.zeros(1, len(states), dtype=torch.long, device=states.device)}


def logits_of(output: Any) -> Tensor:
    """The vocabulary's logits in what a network gives, also where it has a next-sentence head beside."""
    logits: Tensor = output.prediction_logits if hasattr(output, "prediction_logits") else output.logits
    return logits


def gap(wanted: Tensor, actual: Tensor) -> float:
    """The largest difference, by the scale of what is wanted; NaN when there is any."""
    return float((wanted - actual).abs().max() / wanted.abs().max().clamp(min=1e-6))


@contextmanager
def patched_forward(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """While this is open, the module does something else; afterwards it is as it was."""
    had, own = "forward" in module.__dict__, module.forward
    module.forward = forward
    try:
        yield
    finally:
        if had:
            module.forward = own
        else:
            del module.forward


def read_head(
    head: Head,
    states: Tensor,
    *,
    questions: Sequence[Question],
    asked: Sequence[tuple[int, int]],
    asked_positions: Mapping[tuple[int, int], int] | None = None,
) -> dict[int, Answer]:
    """What the questions want at their positions: log-probabilities, most probable tokens, mean hidden states, and
    whole distributions, normalized in float64 and kept in float32: they are large, and reduced to a few numbers before anything is stored.

    `asked` pairs a row of the hidden states with the place of a question. With `asked_positions`, the hidden states are those of
    some rows and positions only, in that order.
    """

    def gather(positions: Sequence[tuple[int, int]]) -> Tensor:
        if asked_positions is not None:
            return states[0, [asked_positions[place] for place in positions]]
        return states[[row for row, _ in positions], [position for _, position in positions]]

    answers = {
        index: as_array(states[row, list(questions[index].positions)].float().mean(0))
        for row, index in asked
        if questions[index].want == VECTOR
    }
    whole = [(row, index) for row, index in asked if questions[index].want == DISTRIBUTION]
    if whole:
        gathered = gather([(row, questions[index].positions[0]) for row, index in whole])
        lines = (line for logits in head.logits(gathered) for line in logits.cpu().double().log_softmax(-1).float())
        answers |= {index: line.numpy() for (_, index), line in zip(whole, lines, strict=True)}
    for want in (LOGPROB, ARGMAX):
        chosen = [(row, index) for row, index in asked if questions[index].want == want]
        if not chosen:
            continue
        once: dict[tuple[int, int], int] = {}
        index = [once.setdefault((r, p), len(once)) for r, index in chosen for p in questions[index].positions]
        gathered = gather(list(once))
        indices = torch.tensor(index, device=states.device)
        if want == LOGPROB:
            targets = [target for _, index in chosen for target in questions[index].targets]
            values = head.logprobs(gathered, torch.tensor(targets, device=states.device), index=indices)
        else:
            values = head.argmax(gathered)[indices]
        sizes = [len(questions[index].positions) for _, index in chosen]
        answers |= {index: as_array(part) for (_, index), part in zip(chosen, values.split(sizes), strict=True)}
    return answers


def as_array(values: Tensor) -> Answer:
    """A tensor as a float64 array."""
    return np.asarray(values.double().cpu().numpy(), dtype=np.float64)
