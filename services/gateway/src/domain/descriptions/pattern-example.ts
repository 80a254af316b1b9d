import { type AST, RegExpParser, RegExpSyntaxError } from "@eslint-community/regexpp";

const MAX_CHARACTERS = 500;
/** The parser calls itself for each group. Longer patterns are only in parts of schemas that are not enforced. */
const MAX_PATTERN_CHARACTERS = 2_500;
/** Tried when a class excludes characters or contains many. */
const USUAL_CHARACTERS = [..."aA0-_ .b1\t\n\ré"];

const parser = new RegExpParser();

/** The pattern uses something that is not supported here, or its examples are too long. */
class NoExample extends Error {}

/** Whether an element is at the start and the end of the whole pattern, the only places where an anchor is understood. */
interface Edges {
  start: boolean;
  end: boolean;
}

/**
 * A text in which the pattern finds a match, made without running the pattern: a pattern can take exponential time.
 * Repetitions without an upper bound get `extra` more than their minimum. Undefined when no example is found.
 */
export function patternExample(pattern: string, extra: number): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARACTERS) return undefined;
  try {
    const { alternatives } = parser.parsePattern(pattern, 0, pattern.length, { unicode: true });
    return alternativesExample(alternatives, extra, { start: true, end: true });
  } catch (error) {
    if (error instanceof NoExample || error instanceof RegExpSyntaxError) return undefined;
    throw error;
  }
}

function alternativesExample([first]: AST.Alternative[], extra: number, edges: Edges): string {
  const elements = first?.elements ?? [];
  let text = "";
  for (const [index, element] of elements.entries()) {
    const start = edges.start && index === 0;
    const end = edges.end && index === elements.length - 1;
    text += elementExample(element, extra, { start, end });
    if (text.length > MAX_CHARACTERS) throw new NoExample();
  }
  return text;
}

function elementExample(element: AST.Element, extra: number, edges: Edges): string {
  switch (element.type) {
    case "Character":
      return String.fromCodePoint(element.value);
    case "CharacterClass":
    case "CharacterSet":
      return classExample(element);
    case "Group":
    case "CapturingGroup":
      return alternativesExample(element.alternatives, extra, edges);
    case "Quantifier":
      return repeatedExample(element, extra, edges);
    case "Assertion":
      if ((element.kind === "start" && edges.start) || (element.kind === "end" && edges.end)) return "";
      throw new NoExample();
    default:
      throw new NoExample();
  }
}

function repeatedExample({ element, min, max }: AST.Quantifier, extra: number, edges: Edges): string {
  const times = Math.min(max, min + extra);
  if (times > MAX_CHARACTERS) throw new NoExample();
  const inner = times > 1 ? { start: false, end: false } : edges;
  const piece = elementExample(element, extra, inner);
  if (piece.length * times > MAX_CHARACTERS) throw new NoExample();
  return piece.repeat(times);
}

/** The first listed character that is in the class, or an ordinary one. Testing one character is fast for any class. */
function classExample(element: AST.CharacterClass | AST.CharacterSet): string {
  const listed = element.type === "CharacterClass" ? element.elements.flatMap(firstCharacter) : [];
  const isMember = new RegExp(`^${element.raw}$`, "u");
  const found = [...listed, ...USUAL_CHARACTERS].find((character) => isMember.test(character));
  if (found === undefined) throw new NoExample();
  return found;
}

function firstCharacter(element: AST.CharacterClassElement): string[] {
  if (element.type === "Character") return [String.fromCodePoint(element.value)];
  return element.type === "CharacterClassRange" ? [String.fromCodePoint(element.min.value)] : [];
}
