import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Tool } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useEffect, useState } from "react";
import { isSame } from "../diff/definition-text.ts";

/** A definition that is being edited. Members that no field knows stay as they are. */
export interface Draft {
  definition: JsonObject;
  /** Undefined removes the member. */
  set: (member: string, value: JsonValue | undefined) => void;
  /** As a whole. */
  rewrite: (definition: JsonObject) => void;
  /** Texts that are no value yet, by the part of the definition: what is wrong with each. */
  broken: Readonly<Record<string, string>>;
  setBroken: (part: string, message: string | undefined) => void;
  isChanged: boolean;
  /** The saved tool that the draft began from; version 0 is none. */
  base: Tool;
  /** This draft has been saved as `tool`; what was typed meanwhile stays. */
  saved: (tool: Tool) => void;
  /** Another one whenever the draft was replaced: fields that keep a text of their own then begin anew. */
  generation: number;
}

export function useDraft(tool: Tool): Draft {
  const [base, setBase] = useState(tool);
  const [definition, setDefinition] = useState<JsonObject>(tool.definition ?? {});
  const [broken, setAllBroken] = useState<Readonly<Record<string, string>>>({});
  const [generation, setGeneration] = useState(0);
  const isChanged = Object.keys(broken).length > 0 || !isSame(definition, base.definition ?? {});
  const replace = (next: JsonObject) => {
    setDefinition(next);
    setAllBroken({});
    setGeneration((before) => before + 1);
  };
  // Somebody else saved the tool, and there is nothing of this user's to lose.
  useEffect(() => {
    if (tool.version <= base.version || isChanged) return;
    setBase(tool);
    replace(tool.definition ?? {});
  }, [tool, base.version, isChanged]);
  return {
    definition,
    set: (member, value) =>
      setDefinition(({ ...next }) => {
        if (value === undefined) delete next[member];
        else next[member] = value;
        return next;
      }),
    rewrite: setDefinition,
    broken,
    setBroken: (part, message) =>
      setAllBroken(({ [part]: _, ...rest }) => (message === undefined ? rest : { ...rest, [part]: message })),
    isChanged,
    base,
    saved: setBase,
    generation,
  };
}
