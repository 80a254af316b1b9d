import { bodyOf, describe } from "@toolgate/api-examples/definition";
import { type CallableTool, type DescribedTool, describedTool } from "@toolgate/api-examples/described-tool";
import { exampleCall } from "@toolgate/api-examples/example-call";
import { explainRelease } from "@toolgate/api-examples/release";
import { useCanManage } from "../../../rpc/use-session.ts";
import { API_TAB } from "../../../text/en/tools/api-tab.ts";
import type { ToolTabProps } from "../tool-tab.ts";
import styles from "./api-tab.module.css";
import { Checklist, Responses } from "./reference.tsx";
import { ReleaseState } from "./release-state.tsx";
import { Request } from "./request.tsx";
import { ToolKeys } from "./tool-keys.tsx";
import { TryOut } from "./try-out.tsx";

/** [BLD-1] How programs call the tool with an API key. */
export default function ApiTab({ tool }: ToolTabProps) {
  const canManage = useCanManage();
  const definition = tool.definition ?? {};
  const callable = { name: tool.name, ...describe(definition, bodyOf(definition)) };
  const described = describedTool(callable, () => "#");
  const call = exampleCall(described, location.origin);
  const release = explainRelease(definition);
  return (
    <div className={styles.tab}>
      <ReleaseState tool={tool} release={release} />
      {(release.released || release.releasedWithoutEffect) && (
        <>
          <Request effect={callable} described={described} call={call} source={sourceOf(callable, described)} />
          {/* Another tool's key and arguments are not this one's. */}
          <TryOut key={tool.name} call={call} mayWrite={callable.mayWrite}>
            {canManage && <ToolKeys tool={tool.name} />}
          </TryOut>
          <Responses
            described={described}
            about={callable.responseJson === "" ? API_TAB.responseOpen : API_TAB.responseFromSchema}
          />
          <div className={styles.row}>
            <Checklist />
          </div>
        </>
      )}
    </div>
  );
}

function sourceOf({ argsFixtureJson }: CallableTool, { example }: DescribedTool): string {
  if (argsFixtureJson !== "") return API_TAB.fromFixture;
  return example === undefined ? API_TAB.noExample : API_TAB.fromSchema;
}
