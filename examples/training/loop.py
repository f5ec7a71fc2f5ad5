"""A policy that learns from the rewards of `assize serve`: python3 loop.py URL

It has four sentences to choose from and learns which one to say. Each step draws a group of answers, has them graded, and
moves the policy by the advantage of each answer within its group. Nothing but the standard library is needed.
"""

import json
import math
import random
import sys
import urllib.request

QUESTION = "Can I return my order?"
SENTENCES = [
    "No idea.",
    "Refunds are possible within 30 days.",
    "Refunds are possible within 30 days; please send the receipt.",
    "Refunds are possible within 30 days, and here is a voucher, I promise.",
]
STEPS, GROUP, RATE = 40, 16, 1.0


def post(url, body):
    """Sends JSON and returns the JSON that comes back."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def probabilities(logits):
    """The probability of each sentence."""
    weights = [math.exp(logit - max(logits)) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def main():
    url = sys.argv[1].rstrip("/") + "/v1/grade"
    draw = random.Random(7)
    logits = [0.0] * len(SENTENCES)
    for step in range(1, STEPS + 1):
        policy = probabilities(logits)
        chosen = draw.choices(range(len(SENTENCES)), policy, k=GROUP)
        body = {
            "rubric": {"name": "refunds"},
            "samples": [{"input": QUESTION, "output": SENTENCES[index]} for index in chosen],
            "reward": "score",
            "on_ungraded": None,
        }
        results = post(url, body)["results"]

        # A reward that nobody knows takes no part: neither in the mean nor in the step.
        graded = [(index, result["reward"]) for index, result in zip(chosen, results) if result["reward"] is not None]
        if not graded:
            continue
        mean = sum(reward for _, reward in graded) / len(graded)
        for index, reward in graded:
            for sentence, probability in enumerate(policy):
                gradient = (sentence == index) - probability
                logits[sentence] += RATE * (reward - mean) * gradient
        print(f"step {step:3}  mean reward {mean:.2f}")

    best = max(zip(probabilities(logits), SENTENCES))
    print(f"learned: {best[1]}")


if __name__ == "__main__":
    main()
