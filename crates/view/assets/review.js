// Pages of a review: keys, and decisions that are sent until they are saved. What is typed and what is not saved yet is
// kept in this browser, so that it survives a reload, and a server that ends and comes back.
import { post } from "./post.js";

const body = document.body;
const review = body.dataset.review;
const notice = document.getElementById("unsaved");
const prefix = `assize-review ${review} `;

function tell(text, buttons = []) {
  notice.replaceChildren();
  notice.hidden = !text;
  if (!text) return;
  const line = document.createElement("p");
  line.textContent = text;
  notice.append(line);
  for (const [label, act] of buttons) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", act);
    notice.append(button, " ");
  }
}

// What this browser keeps of an item. A browser that keeps nothing still sends decisions.
const kept = {
  get(item) {
    try {
      return JSON.parse(localStorage.getItem(prefix + item)) ?? {};
    } catch {
      return {};
    }
  },
  set(item, draft) {
    try {
      if (draft.label || draft.note || draft.severity) localStorage.setItem(prefix + item, JSON.stringify(draft));
      else localStorage.removeItem(prefix + item);
    } catch {
      // The page itself keeps it as long as it is open.
    }
  },
  unsaved() {
    try {
      const items = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
      return items.map((key) => key.slice(prefix.length)).filter((item) => kept.get(item).label);
    } catch {
      return [];
    }
  },
};

function reviewPage() {
  const form = document.querySelector("form.deciding");
  const here = form?.dataset.item ?? "";
  const url = body.dataset.url;
  const note = form?.elements.note;
  const severity = form?.elements.severity;
  const status = document.getElementById("status");
  const say = (text) => {
    if (status) status.textContent = text;
  };
  const refused = new Map();
  let sending = null;
  let timer = 0;

  function show(busy) {
    for (const field of form?.querySelectorAll("button, input, select, textarea") ?? []) {
      if (!field.hasAttribute("data-undo")) field.disabled = busy;
    }
  }

  function open(item) {
    location.replace(`${url}?item=${item}`);
  }

  // Sends a decision again and again until it is saved, or the server says that it can't be.
  async function send(item, draft) {
    clearTimeout(timer);
    sending = item;
    if (item === here) {
      show(true);
      say("Saving …");
    }
    try {
      await post(`${url}/decide`, { item, label: draft.label, severity: draft.severity ?? "", note: draft.note ?? "" });
      kept.set(item, {});
      sending = null;
      tell("");
      if (item === here) open(item);
      else location.reload();
    } catch (error) {
      say("");
      if (error.again) {
        const again = () => send(item, draft);
        const what = error.needsAddress
          ? `${error.message} Then your decision is sent.`
          : `${error.message}. It is kept in this browser and sent again until it is saved.`;
        tell(`Not saved: ${draft.label}. ${what[0].toUpperCase()}${what.slice(1)}`, [
          ["Send now", again],
          ["Take it back", () => { kept.set(item, {}); location.reload(); }],
        ]);
        timer = setTimeout(again, 1000);
        return;
      }
      sending = null;
      show(false);
      if (error.isUnknown) {
        refused.set(item, draft);
        tellRefused(error.message);
        sendUnsaved();
        return;
      }
      kept.set(item, { ...draft, label: undefined });
      tell(`Not saved: ${error.message}`, item === here ? [] : [["Show the item", () => open(item)]]);
    }
  }

  function sendUnsaved() {
    const item = kept.unsaved().find((item) => !refused.has(item));
    if (item && !sending) send(item, kept.get(item));
  }

  // Decisions on items that this review does not know stay in this browser until somebody drops them.
  function tellRefused(reason) {
    const labels = [...refused.values()].map((draft) => draft.label).join(", ");
    tell(`Not saved: ${labels}. ${reason[0].toUpperCase()}${reason.slice(1)}. It is kept in this browser.`, [
      ["Send again", () => location.reload()],
      ["Drop it", () => {
        for (const item of refused.keys()) kept.set(item, {});
        location.reload();
      }],
    ]);
  }

  function decide(label) {
    if (sending || !form) return;
    const draft = { label, note: note.value.trim(), severity: severity.value };
    kept.set(here, draft);
    send(here, draft);
  }

  async function go(path) {
    if (sending) return;
    try {
      const { next } = await post(`${url}/${path}`, { item: here || current() });
      location.assign(next);
    } catch (error) {
      tell(`${error.message[0].toUpperCase()}${error.message.slice(1)}${error.again ? "; try again" : ""}`);
    }
  }

  const current = () => new URLSearchParams(location.search).get("item") ?? "";

  for (const button of document.querySelectorAll("[data-say]")) {
    button.addEventListener("click", () => decide(button.dataset.say));
  }
  for (const button of document.querySelectorAll("[data-undo]")) button.addEventListener("click", () => go("undo"));
  document.querySelector("[data-skip]")?.addEventListener("click", () => go("skip"));
  document.querySelector("[data-leave]").addEventListener("click", async () => {
    try {
      location.assign((await post(`${url}/leave`, {})).next);
    } catch {
      tell("Everything that was decided is saved. You can close this page.");
    }
  });

  const score = form?.elements.score;
  function decideScore() {
    if (score.value !== "" && score.checkValidity()) decide(score.value);
    else {
      say(`Enter a score from ${score.min} to ${score.max}.`);
      score.focus();
    }
  }
  document.querySelector("[data-score]")?.addEventListener("click", decideScore);

  function decideFailure() {
    const chosen = form.querySelector("input[name=failure]:checked");
    if (chosen) decide(chosen.value);
    else say("Choose a failure first.");
  }
  document.querySelector("[data-failure]")?.addEventListener("click", decideFailure);

  form?.addEventListener("submit", (event) => event.preventDefault());
  form?.addEventListener("input", () => {
    kept.set(here, { note: note.value, severity: severity.value });
  });
  note?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    note.blur();
  });
  score?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    decideScore();
  });
  for (const choice of form?.querySelectorAll("input[name=failure]") ?? []) {
    choice.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        decideFailure();
      }
    });
  }

  const acts = {
    e: () => note?.focus(),
    v: () => score?.focus(),
    c: () => (form?.querySelector("input[name=failure]:checked") ?? form?.querySelector("input[name=failure]"))?.focus(),
    s: () => {
      if (!severity) return;
      severity.selectedIndex = (severity.selectedIndex + 1) % severity.options.length;
      severity.dispatchEvent(new Event("input", { bubbles: true }));
      say(`Severity: ${severity.options[severity.selectedIndex].text}`);
    },
    j: () => scrollBy(0, 48),
    k: () => scrollBy(0, -48),
    b: () => scrollBy(0, -0.8 * innerHeight),
  };

  const help = document.getElementById("help");
  const helpButton = document.querySelector("[data-help]");
  helpButton.addEventListener("click", () => help.showModal());

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || event.repeat) return;
    const { key, target } = event;
    const isTyping = target.matches("textarea, input:not([type=radio])");
    if (key === "Escape" && target.matches("textarea, input, select")) {
      target.blur();
      return;
    }
    // A select takes letters for its own entries.
    if (isTyping || target.matches("select")) return;
    // These do what the browser does with what has the focus.
    if ((key === "Enter" || key === " ") && target.closest("a, button, summary, input")) return;

    // After a decision, `x` leads on as well.
    const wanted = key === "x" && !form ? "Enter" : key;
    const button = [...document.querySelectorAll("[data-key]")].find((found) => found.dataset.key === wanted);
    if (button && !button.disabled) button.click();
    else if (Object.hasOwn(acts, key)) acts[key]();
    else return;
    event.preventDefault();
  });

  if (form) {
    const draft = kept.get(here);
    note.value = draft.note ?? "";
    severity.value = draft.severity ?? "";
  }
  document.querySelector("[data-next]")?.focus({ preventScroll: true });
  sendUnsaved();
}

function startPage(form) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const { next } = await post(form.dataset.start, Object.fromEntries(new FormData(form)));
      location.assign(next);
    } catch (error) {
      tell(`${error.message[0].toUpperCase()}${error.message.slice(1)}`);
    }
  });
}

if (review) reviewPage();
const start = document.querySelector("form[data-start]");
if (start) startPage(start);
