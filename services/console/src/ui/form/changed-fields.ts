/**
 * The fields of an edit that differ from what the form was opened with. An update without the others leaves them as they
 * are, also where somebody else has changed them meanwhile. The order of a list does not count.
 */
export function changedFields<Fields extends object>(before: Fields, after: Fields): Partial<Fields> {
  const names = Object.keys(after) as (keyof Fields)[];
  const changed = names.filter((name) => textOf(before[name]) !== textOf(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<Fields>;
}

function textOf(value: unknown): string | undefined {
  return JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
}
