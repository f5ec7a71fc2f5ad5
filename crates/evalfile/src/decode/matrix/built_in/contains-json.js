const text = String(output);
for (let start = 0; start < text.length; start += 1) {
  if (text[start] !== '{' && text[start] !== '[') continue;
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted) {
      if (letter === '\\') at += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === '{' || letter === '[') depth += 1;
    else if (letter === '}' || letter === ']') depth -= 1;
    if (depth === 0) {
      try {
        JSON.parse(text.slice(start, at + 1));
        return verdict(true, 'found');
      } catch {
        break;
      }
    }
  }
}
return verdict(false, 'no JSON in the answer');
