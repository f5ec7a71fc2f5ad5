"""Numbers the sessions of the tests, and counts what passed. Variables stay for the whole run."""

sessions = 0


def hook(name, context):
    global sessions
    if name == "beforeEach":
        sessions += 1
        context["test"]["vars"]["persona"] += f" in session {sessions}"
        return context
    if name == "afterAll":
        passed = sum(result["success"] for result in context["results"])
        print(f"{passed} of {len(context['results'])} passed in {sessions} sessions")
