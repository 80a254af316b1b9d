import type { AssistantDefinition } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const MAX_INSTRUCTIONS_CHARACTERS = 32_000;
const MAX_GREETING_CHARACTERS = 2_000;
const MAX_SUGGESTIONS = 10;
const MAX_SUGGESTION_CHARACTERS = 200;
export const MAX_MODELS = 5;
export const MAX_TOOLS = 100;

/** Why a name of an assistant or a model is not valid; undefined when it is. */
export function nameViolation(name: string): string | undefined {
  return NAME.test(name) ? undefined : 'name: 1 to 64 letters, digits, "_" and "-"';
}

/** Every rule that a definition breaks. Whether its models and tools exist is checked elsewhere. */
export function definitionViolations(definition: AssistantDefinition): string[] {
  const { instructions, greeting, suggestions, models, tools } = definition;
  const violations = [
    ...listViolations("models", models, MAX_MODELS),
    ...listViolations("tools", tools, MAX_TOOLS),
    ...listViolations("suggestions", suggestions, MAX_SUGGESTIONS),
  ];
  if (instructions.length > MAX_INSTRUCTIONS_CHARACTERS)
    violations.push(`instructions: at most ${MAX_INSTRUCTIONS_CHARACTERS} characters`);
  if (greeting.length > MAX_GREETING_CHARACTERS)
    violations.push(`greeting: at most ${MAX_GREETING_CHARACTERS} characters`);
  if (suggestions.some((text) => text.trim() === "" || text.length > MAX_SUGGESTION_CHARACTERS))
    violations.push(`suggestions: each 1 to ${MAX_SUGGESTION_CHARACTERS} characters, not blank`);
  return violations;
}

function listViolations(field: string, names: readonly string[], max: number): string[] {
  if (names.length > max) return [`${field}: at most ${max}`];
  return new Set(names).size < names.length ? [`${field}: must not contain duplicates`] : [];
}
