/**
 * How an allowed element nests. `block`: ends an open paragraph or heading. `inline`: may be in any of them. `void`: has
 * no content. The parts of lists and tables need a parent.
 */
export type ElementKind = "block" | "paragraph" | "inline" | "void" | "item" | "section" | "row" | "cell";

export const ELEMENTS: ReadonlyMap<string, ElementKind> = new Map([
  ["p", "paragraph"],
  ["h1", "paragraph"],
  ["h2", "paragraph"],
  ["h3", "paragraph"],
  ["h4", "paragraph"],
  ["ul", "block"],
  ["ol", "block"],
  ["li", "item"],
  ["blockquote", "block"],
  ["pre", "block"],
  ["table", "block"],
  ["thead", "section"],
  ["tbody", "section"],
  ["tr", "row"],
  ["th", "cell"],
  ["td", "cell"],
  ["a", "inline"],
  ["b", "inline"],
  ["strong", "inline"],
  ["i", "inline"],
  ["em", "inline"],
  ["u", "inline"],
  ["s", "inline"],
  ["code", "inline"],
  ["br", "void"],
  ["hr", "void"],
]);

/** Within these, only rows and cells have a place. */
export const TABLE_FRAME: ReadonlySet<string> = new Set(["table", "thead", "tbody", "tr"]);
export const TABLE_PARTS: ReadonlySet<string> = new Set([...TABLE_FRAME, "td", "th"]);
