import type { SeccompCondition, SeccompProfile, SeccompRule } from "../seccomp-profile.ts";
import type { SystemCalls } from "./system-calls.ts";

/** An instruction of the kernel's filters (struct sock_filter, linux/filter.h). */
export interface Instruction {
  readonly code: number;
  /** How many instructions are skipped if the comparison is true, or false. */
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

const LOAD = 0x20;
const AND = 0x54;
const RETURN = 0x06;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER = 0x25;
const JUMP_IF_AT_LEAST = 0x35;

/** Places in the data that a filter reads (struct seccomp_data, linux/seccomp.h). */
const NUMBER_AT = 0;
const ARCH_AT = 4;
const ARGS_AT = 16;
const ARG_BYTES = 8;
const HALF_BYTES = 4;
const HALF = 2 ** 32;

const KILL_PROCESS = 0x8000_0000;
const ALLOW = 0x7fff_0000;
const ERRNO = 0x0005_0000;
const ENOSYS = 38;

const INSTRUCTION_BYTES = 8;
const COMPARISON_LENGTH = 3;

/**
 * The filter of a profile for 64-bit programs of one processor. Other programs are killed at their first call. Calls with
 * higher numbers than all known ones end with ENOSYS: those of later kernels, and of the x32 interface.
 */
export function compileFilter(
  { defaultErrnoRet, syscalls }: SeccompProfile,
  { auditArch, numbers }: SystemCalls,
): readonly Instruction[] {
  const results = new Map<number, number>();
  const conditional = new Map<number, SeccompRule[]>();
  for (const rule of syscalls) {
    for (const number of rule.names.flatMap((name) => numbers.get(name) ?? [])) {
      if (rule.args.length === 0) {
        results.set(number, resultOf(rule));
      } else {
        conditional.set(number, [...(conditional.get(number) ?? []), rule]);
      }
    }
  }
  const denied = ret(ERRNO + defaultErrnoRet);
  return [
    ...[load(ARCH_AT), jump(JUMP_IF_EQUAL, auditArch, 1, 0), ret(KILL_PROCESS), load(NUMBER_AT)],
    ...rangesOf(results).flatMap(compileRange),
    ...[...conditional].flatMap(([number, rules]) => {
      const body = [...rules.flatMap(compileRule), denied];
      return [jump(JUMP_IF_EQUAL, number, 0, body.length), ...body];
    }),
    ...[jump(JUMP_IF_GREATER, Math.max(...numbers.values()), 0, 1), ret(ERRNO + ENOSYS), denied],
  ];
}

/** The form in which the kernel takes a filter, on little-endian processors. */
export function encodeFilter(filter: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(filter.length * INSTRUCTION_BYTES);
  for (const [index, { code, jf, jt, k }] of filter.entries()) {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(jt, at + 2);
    bytes.writeUInt8(jf, at + 3);
    bytes.writeUInt32LE(k, at + HALF_BYTES);
  }
  return bytes;
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly result: number;
}

/** Neighbours with the same result become one range, so that the filter is short. */
function rangesOf(results: ReadonlyMap<number, number>): readonly Range[] {
  const ranges: Range[] = [];
  for (const [number, result] of [...results].sort(([left], [right]) => left - right)) {
    const previous = ranges.at(-1);
    if (previous?.last === number - 1 && previous.result === result) {
      ranges[ranges.length - 1] = { ...previous, last: number };
    } else {
      ranges.push({ first: number, last: number, result });
    }
  }
  return ranges;
}

function compileRange({ first, last, result }: Range): readonly Instruction[] {
  return [jump(JUMP_IF_AT_LEAST, first, 0, 2), jump(JUMP_IF_GREATER, last, 1, 0), ret(result)];
}

/**
 * Compares whole arguments, in halves of 32 bits. Continues after its last instruction if one differs.
 */
function compileRule(rule: SeccompRule): readonly Instruction[] {
  const halves = rule.args.flatMap(halvesOf);
  const comparisons = halves.flatMap(({ at, expected, mask }, index) => {
    const rest = COMPARISON_LENGTH * (halves.length - 1 - index) + 1;
    return [load(at), { code: AND, jt: 0, jf: 0, k: mask }, jump(JUMP_IF_EQUAL, expected, 0, rest)];
  });
  return [...comparisons, ret(resultOf(rule))];
}

interface HalfCondition {
  readonly at: number;
  readonly mask: number;
  readonly expected: number;
}

function halvesOf({ index, op, value, valueTwo }: SeccompCondition): readonly HalfCondition[] {
  const isMasked = op === "SCMP_CMP_MASKED_EQ";
  const [lowMask, highMask] = isMasked ? splitInHalves(value) : [HALF - 1, HALF - 1];
  const [low, high] = splitInHalves(isMasked ? valueTwo : value);
  const at = ARGS_AT + index * ARG_BYTES;
  return [
    { at, mask: lowMask, expected: low },
    { at: at + HALF_BYTES, mask: highMask, expected: high },
  ];
}

function splitInHalves(value: number): readonly [low: number, high: number] {
  return [value % HALF, Math.floor(value / HALF)];
}

function resultOf({ action, errnoRet }: SeccompRule): number {
  return action === "SCMP_ACT_ALLOW" ? ALLOW : ERRNO + errnoRet;
}

function load(k: number): Instruction {
  return { code: LOAD, jt: 0, jf: 0, k };
}

function ret(k: number): Instruction {
  return { code: RETURN, jt: 0, jf: 0, k };
}

function jump(code: number, k: number, jt: number, jf: number): Instruction {
  return { code, jt, jf, k };
}
