export const OVERVIEW = {
  title: "Overview",
  attention: "Needs attention",
  nothing: "Nothing needs attention.",
  day: "The last 24 hours",
  now: "now",
  notAvailable: "Not available",
  first: "First steps",
  firstText: "Each ticks itself once it is done.",
  done: "done",
  open: "to do",
} as const;

/** Parts of the page, by the services that answer them. */
export const PARTS = {
  keys: "API keys",
  tools: "Tools and runs",
  endpoints: "Endpoints and deliveries",
  hooks: "Hooks",
  chats: "Assistants and chats",
} as const;

export const STEPS = {
  release: "Release a tool for API keys",
  key: "Create a key that lists it",
  call: "Make the first call with the key",
  endpoint: "Add an endpoint for webhooks",
  test: "Send it a test event",
} as const;

/** `log`: what an hour opens. Answers have no log of an hour. */
export const CHARTS = {
  calls: { title: "Calls", log: "Runs by API key" },
  errors: { title: "Errors", log: "Failed runs" },
  deliveries: { title: "Deliveries", log: "Deliveries" },
  answers: { title: "Answers" },
} as const;

export const FIXES = {
  endpoint: "Look at the endpoint",
  undelivered: "Look at the events",
  key: "Change its expiry",
  tools: "Show the keys",
  hook: "Look at the refused calls",
  assistant: "Look at the assistant",
  models: "Look at the models",
  budget: "Change the budget",
  more: "Show all",
} as const;

/** After the number of those that are not shown. */
export const MORE = {
  endpoints: "more endpoints are off.",
  hooks: "more hooks refuse all calls.",
  assistants: "more assistants give no answers.",
  undelivered: "more endpoints did not get all events.",
  tools: "more tools are listed by keys that cannot call them.",
  keys: "more keys expire within 14 days.",
} as const;

const SHOWN_WORDS: Readonly<Record<number, string>> = { 5: "five" };
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY_AND_CLOCK = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const DAY_MS = 86_400_000;

/** Such as 10:14, with the day if it is another one. */
export function clockText(at: Date, now: number): string {
  const isToday = new Date(now).toDateString() === at.toDateString();
  return (isToday ? CLOCK : DAY_AND_CLOCK).format(at);
}

export function countText(count: number, isMore = false): string {
  return `${count.toLocaleString("en")}${isMore ? "+" : ""}`;
}

function counted(count: number, one: string, isMore = false): string {
  return `${countText(count, isMore)} ${one}${count === 1 && !isMore ? "" : "s"}`;
}

interface EndpointOff {
  since: string | undefined;
  /** In a row, if they deactivated it. */
  failures: number | undefined;
  /** Such as 500, or why there was none. */
  lastAnswer: string | undefined;
  missed: string;
}

export function endpointOffText({ since, failures, lastAnswer, missed }: EndpointOff): string {
  const off = since === undefined ? "is off" : `has been off since ${since}`;
  if (failures === undefined) return `${off}: somebody deactivated it.${missed}`;
  const answer = lastAnswer === undefined ? "" : `, last answer ${lastAnswer}`;
  return `${off}: ${SHOWN_WORDS[failures] ?? failures} deliveries failed${answer}.${missed}`;
}

export function missedText(events: number, isMore: boolean): string {
  return `${counted(events, "event", isMore)} did not reach it.`;
}

export function expiringText(expiresAt: Date, now: number): string {
  const days = Math.ceil((expiresAt.getTime() - now) / DAY_MS);
  const when = days <= 1 ? "in less than a day" : `in ${days} days`;
  return `expires ${when}, on ${DAY_AND_CLOCK.format(expiresAt)}. Its calls get 401 from then on.`;
}

export function unavailableText(keys: number): string {
  return `is listed by ${counted(keys, "key")}, and calls to it get 403: it is not released, async or deleted.`;
}

export function failingHookText(refused: number, since: string, hasWorked: boolean): string {
  const why = hasWorked ? "its sender may have a new secret" : "its format or secret does not fit the sender";
  return `has refused all ${counted(refused, "call")} since ${since}, because their verification failed: ${why}.`;
}

export function failingAssistantText(failures: number, lastAt: string): string {
  return `gave no answer ${failures === 1 ? "once" : `${countText(failures)} times`} in the last 24 hours, last at ${lastAt}: its model failed.`;
}

export function budgetText(used: bigint, perDay: bigint): string {
  return `is used up: ${used.toLocaleString("en")} of ${perDay.toLocaleString("en")} tokens today. Assistants answer again after midnight UTC.`;
}

export function unansweredText(part: string): string {
  return `${part}: not available, because the service does not answer. The rest of this page is complete.`;
}

/** The tooltip and the name of an hour: "10:00 to 11:00: 12 calls". */
export function hourText(start: Date, what: string, count: string): string {
  const end = new Date(start.getTime() + DAY_MS / 24);
  return `${CLOCK.format(start)} to ${CLOCK.format(end)}: ${count} ${what.toLowerCase()}`;
}

/** Under a chart: where it begins, and what is in it. */
export function startText(firstHour: Date): string {
  return CLOCK.format(firstHour);
}

export function dayText(count: string): string {
  return `${count} in 24 hours`;
}
