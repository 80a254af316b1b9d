export type Language = "javascript" | "json";

export interface Problem {
  line: number;
  column: number;
  message: string;
}

export interface CodeEditorProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  language: Language;
  readOnly?: boolean;
  /** How far it grows. A small one begins with one line. */
  size?: "small" | "large";
  /** What is wrong in the text, at lines and columns that count from 1. JSON is checked by the editor itself. */
  problems?: readonly Problem[];
}
