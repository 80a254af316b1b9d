import type { InferOutput } from "valibot";
import { ENTRY_TYPES, type Search } from "../../routes/runs.ts";
import { ENTRY_WORDS, RUNS } from "../../text/en/tools/runs.ts";
import { Select } from "../../ui/form/input.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { TimeRange } from "../../ui/list/time-range.tsx";
import type { KeyNames } from "./run-columns.tsx";
import styles from "./runs.module.css";

export type RunFilter = Omit<InferOutput<typeof Search>, "open" | "at">;

/** An id of a request, as the gateway or a proxy in front of it makes them. */
const REQUEST_ID = /^(?:[0-9a-z]{7,10}-[0-9a-f]{12}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i;

const ENTRY_OPTIONS = [
  ["", RUNS.anyEntry] as const,
  ...ENTRY_TYPES.map((type) => [type, ENTRY_WORDS[type] ?? type] as const),
];
const OUTCOME_OPTIONS = [
  ["", RUNS.anyOutcome],
  ["succeeded", RUNS.succeeded],
  ["failed", RUNS.failed],
] as const;

interface RunFiltersProps {
  filter: RunFilter;
  keys: KeyNames;
  onFilter: (change: Partial<RunFilter>) => void;
}

export function RunFilters({ filter, keys, onFilter }: RunFiltersProps) {
  const callers = new Map([["", RUNS.anyKey], ...keys]);
  if (filter.caller && !callers.has(filter.caller)) callers.set(filter.caller, filter.caller);
  return (
    <>
      <SearchField
        label={RUNS.search}
        value={filter.request ?? filter.tool}
        onValue={(text) => {
          const isRequest = text !== undefined && REQUEST_ID.test(text);
          onFilter({ request: isRequest ? text : undefined, tool: isRequest ? undefined : text });
        }}
      />
      <Select
        aria-label="Started by"
        options={ENTRY_OPTIONS}
        value={filter.entry ?? ""}
        onValue={(entry) => onFilter({ entry: ENTRY_TYPES.find((type) => type === entry) })}
      />
      <Select
        aria-label="Outcome"
        options={OUTCOME_OPTIONS}
        value={filter.outcome ?? ""}
        onValue={(outcome) => onFilter({ outcome: (outcome || undefined) as RunFilter["outcome"] })}
      />
      <Select
        aria-label="Caller"
        className={styles.caller}
        options={[...callers]}
        value={filter.caller ?? ""}
        onValue={(caller) => onFilter({ caller: caller || undefined })}
      />
      <TimeRange from={filter.from} to={filter.to} onRange={onFilter} />
    </>
  );
}
