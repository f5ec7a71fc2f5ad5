const outer = readXml(String(output), false).elements.filter((node) => node.isComplete && !node.parent.isComplete);
const groups = new Map();
for (const node of outer) groups.set(node.parent, [...(groups.get(node.parent) ?? []), node]);
const found = [...groups.values(), ...outer.map((node) => [node])]
  .find((nodes) => missingElements(nodes, context.config.value).length === 0);
if (found !== undefined) return verdict(true, `found <${found[0].name}>`);
return verdict(false, outer.length === 0 ? 'no XML in the answer' : `no XML with ${firstThree(context.config.value)}`);
