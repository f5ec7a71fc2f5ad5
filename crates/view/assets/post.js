// Sends a decision to the server. The header tells it that a script of these pages sent the request.
export async function post(path, content) {
  let reply;
  try {
    reply = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Assize-Page": "1" },
      body: JSON.stringify(content),
      signal: AbortSignal.timeout(15_000),
    });
  } catch {
    throw Object.assign(new Error("the server can't be reached"), { again: true });
  }
  const text = await reply.text();
  if (reply.ok) return text ? JSON.parse(text) : {};

  let error = text;
  try {
    error = JSON.parse(text).error;
  } catch {
    // A plain sentence.
  }
  throw Object.assign(new Error(error || `the server answered ${reply.status}`), {
    // Only these say that sending the same again is of no use.
    again: ![404, 409, 413, 422].includes(reply.status),
    // Another review of the same run may ask for the item.
    isUnknown: reply.status === 404,
    needsAddress: reply.status === 403,
  });
}
