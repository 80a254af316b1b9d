import type { ExampleCall } from "../example-call.ts";
import { curl } from "./curl.ts";
import { javascript } from "./javascript.ts";
import { phpCurl, phpGuzzle } from "./php.ts";
import { python } from "./python.ts";

/** A program that makes a call, ready to run once its environment has the key. */
export interface Snippet {
  id: string;
  label: string;
  write: (call: ExampleCall) => string;
}

/** [BLD-8] [BLD-9] [BLD-10] [BLD-11] [BLD-12] */
export const SNIPPETS: readonly Snippet[] = [
  { id: "curl", label: "curl", write: curl },
  { id: "javascript", label: "JavaScript", write: javascript },
  { id: "python", label: "Python", write: python },
  { id: "php-guzzle", label: "PHP (Guzzle)", write: phpGuzzle },
  { id: "php-curl", label: "PHP (curl)", write: phpCurl },
];
