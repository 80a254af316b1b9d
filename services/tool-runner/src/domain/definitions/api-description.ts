import type { ApiDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";

type Texts = Omit<ApiDescription, "$typeName" | "$unknown">;

const MAX_CHARACTERS: Readonly<Record<keyof Texts, number>> = {
  title: 100,
  description: 10_000,
  contactName: 100,
  contactUrl: 2_000,
  contactEmail: 254,
  licenseName: 100,
  licenseUrl: 2_000,
};
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** [OAPI] What is wrong with how a workspace introduces its tools; undefined if nothing is. */
export function apiDescriptionViolation(about: Texts): string | undefined {
  for (const [name, max] of Object.entries(MAX_CHARACTERS) as [keyof Texts, number][]) {
    if (about[name].length > max) return `about.${name}: at most ${max} characters`;
    if (!about[name].isWellFormed()) return `about.${name}: contains half of a character`;
  }
  for (const name of ["contactUrl", "licenseUrl"] as const) {
    if (about[name] !== "" && !isWebUrl(about[name])) return `about.${name}: must be an http or https URL`;
  }
  if (about.contactEmail !== "" && !EMAIL.test(about.contactEmail))
    return "about.contactEmail: must be an email address";
  if (about.licenseUrl !== "" && about.licenseName === "") return "about.licenseName: missing, next to licenseUrl";
  return undefined;
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["http:", "https:"].includes(url.protocol);
}
