import { getRouteApi, Link } from "@tanstack/react-router";
import type { DescribedTool } from "@toolgate/api-examples/described-tool";
import { REFERENCE } from "../../text/en/reference.ts";
import { SearchField } from "../../ui/list/search-field.tsx";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import styles from "./reference.module.css";

const route = getRouteApi("/reference");
/** From this many on, a list needs a search. */
const MANY = 8;

interface ToolChoiceProps {
  tools: readonly DescribedTool[];
  chosen: string | undefined;
}

export function ToolChoice({ tools, chosen }: ToolChoiceProps) {
  const { search = "" } = route.useSearch();
  const set = useSetSearch();
  const found = tools.filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()));
  return (
    <nav aria-label={REFERENCE.tools} className={styles.choice}>
      {tools.length >= MANY && (
        <SearchField label={REFERENCE.search} value={search} onValue={(value) => set({ search: value || undefined })} />
      )}
      {found.length === 0 && <p className={styles.dim}>{REFERENCE.noMatch}</p>}
      <ul>
        {found.map(({ name }) => (
          <li key={name}>
            <Link
              to="/reference"
              search={(before) => ({ ...before, tool: name })}
              aria-current={name === chosen ? "page" : undefined}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
