import { useQuery } from "@connectrpc/connect-query";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";
import { Button } from "../../ui/button.tsx";
import { Input, Select } from "../../ui/form/input.tsx";
import { Hidden } from "../../ui/hidden.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { TimeRange } from "../../ui/list/time-range.tsx";
import styles from "./hook-log.module.css";
import type { Filters } from "./use-hook-log.ts";

const STATUS_OPTIONS = [
  ["", HOOK_LOG.anyStatus],
  ["waiting", "Waiting"],
  ["running", "Running"],
  ["succeeded", "Succeeded"],
  ["failed", "Failed"],
  ["interrupted", "Interrupted"],
] as const;

interface HookLogFiltersProps {
  filters: Filters;
  onChange: (change: Partial<Filters>) => void;
}

export function HookLogFilters({ filters, onChange }: HookLogFiltersProps) {
  const isRefused = filters.kind === "refused";
  return (
    <>
      <fieldset className={styles.kinds}>
        <legend>
          <Hidden>{HOOK_LOG.kind}</Hidden>
        </legend>
        <Button aria-pressed={!isRefused} onClick={() => onChange({ kind: undefined })}>
          {HOOK_LOG.accepted}
        </Button>
        <Button
          aria-pressed={isRefused}
          onClick={() => onChange({ kind: "refused", status: undefined, external_id: undefined })}
        >
          {HOOK_LOG.refused}
        </Button>
      </fieldset>
      <SearchField
        label={HOOK_LOG.requestId}
        value={filters.request_id}
        onValue={(value) => onChange({ request_id: value })}
      />
      {!isRefused && (
        <IdField
          label={HOOK_LOG.externalId}
          value={filters.external_id}
          onValue={(value) => onChange({ external_id: value })}
        />
      )}
      <HookChoice value={filters.hook} onValue={(hook) => onChange({ hook })} />
      {!isRefused && (
        <Select
          aria-label="Status"
          options={STATUS_OPTIONS}
          value={filters.status ?? ""}
          onValue={(value) => onChange({ status: (value || undefined) as Filters["status"] })}
        />
      )}
      <TimeRange from={filters.from} to={filters.to} onRange={onChange} />
    </>
  );
}

interface FilterProps {
  label: string;
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}

/** A second field to search by, which takes effect when the user leaves it or presses Enter. */
function IdField({ label, value, onValue }: FilterProps) {
  const take = (element: HTMLInputElement) => onValue(element.value.trim() || undefined);
  return (
    <Input
      key={value}
      type="search"
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      onBlur={({ currentTarget }) => currentTarget.value !== (value ?? "") && take(currentTarget)}
      onKeyDown={({ key, currentTarget }) => key === "Enter" && take(currentTarget)}
    />
  );
}

function HookChoice({ value, onValue }: Pick<FilterProps, "value" | "onValue">) {
  const workspace = useWorkspace();
  const { data } = useQuery(HookService.method.listHooks, { workspace });
  const known = (data?.hooks ?? []).map(({ id, name }) => [String(id), name] as const);
  const isMissing = value !== undefined && !known.some(([id]) => id === value);
  const options = [
    ["", HOOK_LOG.allHooks] as const,
    ...known,
    ...(isMissing ? [[value, data ? HOOK_LOG.deletedHook : "…"] as const] : []),
  ];
  return (
    <Select
      aria-label={HOOK_LOG.hook}
      options={options}
      value={value ?? ""}
      onValue={(id) => onValue(id || undefined)}
    />
  );
}
