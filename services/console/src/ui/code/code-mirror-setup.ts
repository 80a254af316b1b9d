import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Language, Problem } from "./code-editor-props.ts";

const LINT_MS = 300;
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.propertyName], fontWeight: "500" },
]);

const theme = EditorView.theme({
  "&": {
    border: "1px solid light-dark(#868c98, #6c7380)",
    borderRadius: "6px",
    backgroundColor: "var(--background)",
    color: "var(--text)",
    fontSize: "12px",
    overflow: "hidden",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "18px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": {
    border: "0",
    borderRight: "1px solid var(--line)",
    backgroundColor: "var(--panel)",
    color: "var(--dim)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--hover)", outline: "1px solid var(--dim)" },
  ".cm-content ::selection": { backgroundColor: "light-dark(#cfcafc, #3d3878)" },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "6px",
    backgroundColor: "var(--panel)",
    color: "var(--text)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
});

const SIZES = {
  small: EditorView.theme({ ".cm-scroller": { maxHeight: "320px" }, ".cm-content, .cm-gutter": { minHeight: "34px" } }),
  large: EditorView.theme({ ".cm-scroller": { maxHeight: "60vh" }, ".cm-content, .cm-gutter": { minHeight: "220px" } }),
} as const;

const LANGUAGES: Readonly<Record<Language, Extension>> = {
  javascript: javascript(),
  json: [json(), linter(readJson, { delay: LINT_MS })],
};

/** An empty text is no JSON, but means that there is no value. */
function readJson(view: EditorView): readonly Diagnostic[] {
  return view.state.doc.length === 0 ? [] : jsonParseLinter()(view);
}

export function setupOf(language: Language, label: string, size: keyof typeof SIZES): Extension {
  return [
    LANGUAGES[language],
    lineNumbers(),
    history(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion(),
    syntaxHighlighting(colours),
    theme,
    SIZES[size],
    // Without a tabindex of its own, checkers of accessibility take it for text that the keyboard cannot scroll.
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
  ];
}

/** Marks each problem up to the end of its word. */
export function showProblems(view: EditorView, problems: readonly Problem[]): void {
  const { doc } = view.state;
  const diagnostics = problems.map(({ line, column, message }): Diagnostic => {
    const found = doc.line(Math.min(Math.max(1, line), doc.lines));
    const from = Math.min(found.from + Math.max(0, column - 1), found.to);
    const word = view.state.wordAt(from);
    return { from, to: Math.max(word?.to ?? from, Math.min(from + 1, found.to)), severity: "error", message };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}
