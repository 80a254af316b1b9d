/** Splits items, in their order, into parts within both limits; an item that is too large is a part of its own. */
export function inParts<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  { maxItems, maxBytes }: { maxItems: number; maxBytes: number },
): Item[][] {
  const parts: Item[][] = [];
  let bytes = 0;
  for (const item of items) {
    const last = parts.at(-1);
    bytes += sizeOf(item);
    if (last && last.length < maxItems && bytes <= maxBytes) last.push(item);
    else {
      parts.push([item]);
      bytes = sizeOf(item);
    }
  }
  return parts;
}
