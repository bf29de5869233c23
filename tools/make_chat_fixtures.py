#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/fixtures/chat/cases.json: what Jinja makes of chat templates.

    pip install jinja2==3.1.6
    tools/make_chat_fixtures.py

The environment is the one that transformers renders chat templates in. The templates have the
form of those that ChatML, SmolLM2, Llama 2, Llama 3, Llama 3.1 and Qwen2 models ship: the same
turns, special tokens and constructs of the language, plus small ones for single constructs.
A case is {name, template, messages, variables, prompt, expected} or has "error" instead.
"""

import datetime
import json
import pathlib

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/fixtures/chat/cases.json"
NOW = 1_700_000_000  # 14 November 2023, 22:13:20 UTC

CHATML = """{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

SMOLLM2 = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

QWEN2 = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\\n' + message['content']}}{% if (loop.last and add_generation_prompt) or not loop.last %}{{ '<|im_end|>' + '\\n'}}{% endif %}{% endfor %}{% if add_generation_prompt and messages[-1]['role'] != 'assistant' %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

LLAMA2 = """{% if messages[0]['role'] == 'system' %}{% set turns = messages[1:] %}{% set system = messages[0]['content'] %}{% else %}{% set turns = messages %}{% set system = false %}{% endif %}{% for m in turns %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate: user, assistant, user, ...') }}{% endif %}{% if loop.index0 == 0 and system != false %}{% set text = '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + m['content'] %}{% else %}{% set text = m['content'] %}{% endif %}{% if m['role'] == 'user' %}{{ bos_token + '[INST] ' + text.strip() + ' [/INST]' }}{% elif m['role'] == 'assistant' %}{{ ' ' + text.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""

LLAMA3 = """{% for message in messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""

LLAMA31 = """{{- bos_token }}
{%- if own_tools is defined %}
    {%- set tools = own_tools %}
{%- endif %}
{%- if not tools_with_user is defined %}
    {%- set tools_with_user = true %}
{%- endif %}
{%- if not today is defined %}
    {%- if strftime_now is defined %}
        {%- set today = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set today = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- The system turn, cut off so that it can be put in its place. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined or tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{%- if builtin_tools is defined %}
    {{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\\n\\n"}}
{%- endif %}
{{- "Today Date: " + today + "\\n\\n" }}
{%- if tools is not none and not tools_with_user %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system }}
{{- "<|eot_id|>" }}
{%- if tools_with_user and not tools is none %}
    {%- if messages | length != 0 %}
        {%- set first = messages[0]['content']|trim %}
        {%- set messages = messages[1:] %}
    {%- else %}
        {{- raise_exception("There is no first user message to put the tools into") }}
{%- endif %}
    {{- '<|start_header_id|>user<|end_header_id|>\\n\\n' -}}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
    {{- first + "<|eot_id|>"}}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("One tool call at a time") }}
        {%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {%- if builtin_tools is defined and call.name in builtin_tools %}
            {{- "<|python_tag|>" + call.name + ".call(" }}
            {%- for name, value in call.arguments | items %}
                {{- name + '="' + value + '"' }}
                {%- if not loop.last %}
                    {{- ", " }}
                {%- endif %}
            {%- endfor %}
            {{- ")" }}
        {%- else %}
            {{- '{"name": "' + call.name + '", ' }}
            {{- '"parameters": ' }}
            {{- call.arguments | tojson }}
            {{- "}" }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

MODELS = {"chatml": CHATML, "smollm2": SMOLLM2, "qwen2": QWEN2, "llama2": LLAMA2,
          "llama3": LLAMA3, "llama3.1": LLAMA31}


def turn(role, content):
    return {"role": role, "content": content}


TALKS = {
    "one": [turn("user", "Hello")],
    "system": [turn("system", "  Be brief. \n"), turn("user", " Hi there!\n")],
    "long": [turn("system", "S"), turn("user", "1"), turn("assistant", " a b \n"),
             turn("user", "2\n\n"), turn("assistant", ""), turn("user", "é 日本 👩‍👩‍👧 <|im_end|> {{ x }}")],
    "answered": [turn("user", "q"), turn("assistant", "a")],
    "wrong order": [turn("assistant", "a"), turn("user", "q")],
    "nothing": [],
}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The \"weather\" — now",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": []}}}
CALL = {"role": "assistant", "tool_calls": [{"function": {"name": "get_weather",
        "arguments": {"place": "Zürich", "n": 1.5, "f": [True, None]}}}]}
SEARCH = {"role": "assistant", "tool_calls": [{"function": {"name": "search",
          "arguments": {"query": "x", "lang": "en"}}}]}
TOOL_TALKS = [
    ([turn("user", "Weather?"), CALL, turn("tool", {"c": 21})], {"tools": [TOOL]}),
    ([turn("system", "S"), turn("user", "W?"), CALL, turn("ipython", "21")],
     {"own_tools": [TOOL, TOOL], "tools_with_user": False}),
    ([turn("user", "W?"), SEARCH, turn("tool", ["a", 1])],
     {"builtin_tools": ["search", "code_interpreter"], "today": "1 Jan 2025"}),
    ([turn("system", "only")], {"tools": [TOOL]}),
    ([turn("user", "W?"), dict(CALL, tool_calls=CALL["tool_calls"] * 2)], {}),
]

# One construct each; messages are TALKS["long"].
SMALL = [
    "{{ 1 + 2 * 3 - 4 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7.5 % -2 }} {{ 2 ** 3 ** 2 }} {{ 2 ** -1 }}",
    "{{ 1e16 }} {{ 1.0 }} {{ 0.1 + 0.2 }} {{ 1e-5 }} {{ 123456789012345680.0 }} {{ 1_000 }} {{ -0.0 }}",
    "{{ 'a' ~ 1 ~ none ~ true ~ 1.5 ~ [1, 'x'] ~ {'k': (1,)} }}",
    "{{ \"it's\" }} {{ ['it\\'s', 'a\"b', 'é\\n\\t\\\\'] }} {{ 'A\\x41\\u00e9\\U0001F600' }}",
    "{{ messages[-1].content[:3] }}|{{ messages[1:3]|length }}|{{ 'héllo'[1:4] }}|{{ 'abc'[::-1] }}|{{ [1,2,3,4][-3:-1] }}|{{ 'abcdef'[::2] }}|{{ 'abc'[5:] }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' != 'b' }}",
    "{{ 'a' in 'abc' }} {{ 'role' in messages[0] }} {{ 3 not in [1, 2] }} {{ not 1 in [1] }} {{ '' in 'x' }}",
    "{{ none or 'x' }} {{ 0 and 1 }} {{ '' or [] or 'y' }} {{ 1 and 2 }} {{ not none }}",
    "{{ 'yes' if messages else 'no' }} {{ 'never' if false }}| {{ 'a' if false else 'b' if false else 'c' }}",
    "{{ x }}|{{ x is defined }}|{{ x is not defined }}|{{ messages is defined }}|{{ x is none }}|{{ none is none }}",
    "{{ x is iterable }} {{ 'a' is string }} {{ {} is mapping }} {{ [] is sequence }} {{ 1 is number }} {{ true is boolean }} {{ 1 is integer }} {{ 1.0 is float }} {{ true is integer }} {{ true is true }} {{ 1 is true }}",
    "{{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 1 is eq 1 }} {{ 'a' is in ['a'] }} {{ 2 is gt 1 }} {{ 2 is ne(2) }}",
    "{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.cycle('a', 'b') }};{% endfor %}",
    "{% for m in messages %}{{ loop.previtem.role if loop.previtem is defined }}>{{ loop.nextitem.role if loop.nextitem is defined }} {% endfor %}",
    "{% for m in messages if m.role == 'user' %}{{ loop.index }}/{{ loop.length }}:{{ m.content | trim }} {% else %}none{% endfor %}",
    "{% for x in [] %}a{% else %}empty{% endfor %} {% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }},{% endfor %} {% for c in 'hé' %}{{ c }}.{% endfor %} {% for k in {'x': 1} %}{{ k }}{% endfor %}",
    "{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %} {{ range(3, 0, -1) | list }} {{ range(2, 8, 3) | list }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}{% for (x, y) in [(1, 2), [3, 4]] %}{{ x + y }},{% endfor %}",
    "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}{% if true %}{% set x = 9 %}{% endif %}{{ x }}",
    "{% set ns = namespace(found=false, n=1) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.found = true %}{% set ns.n = ns.n * 2 %}{% endif %}{% endfor %}{{ ns.found }} {{ ns.n }}",
    "{% set t %}<{{ messages | length }}>{% endset %}{{ t }}{{ t | length }}",
    "{% macro tag(name, value='v', last=none) %}<{{ name }}:{{ value }}{{ last if last }}>{% endmacro %}{{ tag('a') }}{{ tag('b', 'c') }}{{ tag(value=1, name=2) }}{{ tag('x') | upper }}",
    "{% macro sum(list) %}{% if list %}{{ list[0] }}+{{ sum(list[1:]) }}{% else %}0{% endif %}{% endmacro %}{{ sum([1, 2, 3]) }}",
    "{{ messages | tojson }}",
    "{{ messages[1:3] | tojson(indent=2) }}",
    "{{ {'b': [1, 2.0, true, none, {}], 'a': [], 'é\\n\"': '\\x01/\\u2028😀'} | tojson }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }} {{ 'é😀' | tojson(ensure_ascii=true) }} {{ [1, {'a': 2}] | tojson(separators=(',', ':')) }} {{ [[]] | tojson(indent=1) }}",
    "{{ ' x ' | trim }}|{{ 'xxaxx' | trim('x') }}|{{ 'aBc' | upper }}|{{ 'ÀÉ' | lower }}|{{ 'straße' | upper }}|{{ 'hello wORLD-foo (bar' | title }}|{{ 'hELLO' | capitalize }}",
    "{{ x | default('d') }} {{ '' | default('d') }}| {{ '' | default('d', true) }} {{ none | d('n') }} {{ x | d }}|",
    "{{ [1, 'a', none] | join }} {{ [1, 2] | join('-') }} {{ messages | join(',', attribute='role') }} {{ 'abc' | join('.') }}",
    "{{ messages | map(attribute='role') | list }} {{ ['a', 'b'] | map('upper') | join }} {{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }} {{ messages | rejectattr('role', 'in', ['user', 'system']) | list | length }} {{ [0, 1, '', 'x'] | select | list }} {{ [1, 2, 3] | reject('odd') | list }}",
    "{{ [1, 2, 3] | first }} {{ [1, 2, 3] | last }} {{ 'abc' | first }} {{ 'abc' | reverse }} {{ [1, 2] | reverse | list }} {{ 'abc' | list }} {{ [1, 1, 'A', 'a'] | unique | list }} {{ 'a,b' | replace(',', ';') }} {{ 'aaa' | replace('a', 'b', 2) }}",
    "{{ '42' | int }} {{ 'x' | int }} {{ 'x' | int(7) }} {{ 3.9 | int }} {{ '1.5' | float }} {{ 5 | string | length }} {{ -3 | abs }} {{ {'a': 1} | items | list }} {{ 'é日' | length }} {{ {'a': 1} | length }}",
    "{{ 'a\\nb\\n\\nc' | indent }}|{{ 'a\\nb' | indent(2, true) }}|{{ 'a\\n\\nb\\n' | indent(1, blank=true) }}|",
    "{{ ' a b '.strip() }}|{{ 'xxaxx'.lstrip('x') }}|{{ ' a '.rstrip() }}|{{ 'a b  c'.split() }}|{{ 'a,b,,c'.split(',') }}|{{ 'a,b,c'.split(',', 1) }}|{{ 'a,b,c'.rsplit(',', 1) }}|{{ ' a  b c '.split(none, 1) }}|{{ 'a\\nb\\r\\nc\\n'.splitlines() }}",
    "{{ 'abc'.startswith('ab') }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith('c') }} {{ 'abcabc'.replace('b', '') }} {{ 'aaa'.replace('a', 'b', 1) }} {{ 'ab'.replace('', '-') }} {{ 'héllo'.find('l') }} {{ 'abc'.find('z') }} {{ 'abab'.rfind('b') }} {{ 'banana'.count('an') }} {{ '-'.join(['a', 'b']) }} {{ '12'.isdigit() }} {{ 'prefix-x'.removeprefix('prefix-') }} {{ \"they're bill's\".title() }}",
    "{{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b') }} {{ {'a': 1}.get('b', 2) }} {{ {'a': 1, 'b': 2}.keys() | list }} {{ {'a': 1}.values() | list }} {{ dict(a=1).a }} {{ {'a': {'b': [5]}}.a['b'][0] }} {{ {1: 'x'}[1] }} {{ [1, 2].0 }}",
    "  {% if true %}\n  a\n  {% endif %}\n b {# c #}\n {#- d -#} \n e\n  {%- if true +%}\n f {%+ endif %} g\n\t{% set q = 1 %}\nh{{ q }}\n\n",
    "{%- for i in [1, 2] -%}\n  {{ i }}\n{%- endfor -%}\n\n x {{- ' y ' -}} z\r\nlast\r\n",
    "{% raw %} {{ not }} {% x %} {% endraw %}|{%- raw -%}  a  {%- endraw -%}  |",
    "a{{ {'a': {'b': 1}}['a']['b'] }}b{{ '}}' }}{{ \"{% %}\" }}{# {{ x }} #}c",
    "{% if x %}a{% elif messages | length > 5 %}b{% elif true %}c{% else %}d{% endif %}{% if x is defined and x.y %}1{% endif %}",
    "{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d') }}",
    "{% generation %}{{ messages[0].content }}{% endgeneration %}",
    "{{ ('a', 'b')[1] }} {{ (1) }} {{ (1,) }} {{ () }} {{ [1, 2,] }} {{ [1] + [2] }} {{ [0] * 3 }} {{ 'ab' * 2 }} {{ 'a' 'b' }}",
    "{{ messages[0]['nothing'] }}|{{ messages[0].nothing is defined }}|{{ messages[99] is defined }}|{{ none.x is defined }}",
]
# Rendering ends in an error there, and must here.
ERRORS = [
    "{{ raise_exception('no ' ~ messages[0].role) }}", "{{ x.y }}", "{{ x.strip() }}", "{{ 1 / 0 }}",
    "{{ 'a' + 1 }}", "{{ none + 'a' }}", "{{ x + 'a' }}", "{{ 1 < 'a' }}", "{{ foo() }}", "{{ [1].append(2) }}",
    "{% for i in 5 %}{% endfor %}", "{% set a, b = [1] %}", "{{ 1 | length }}", "{{ messages.role.x }}",
    "{{ x | tojson }}", "{% if %}{% endif %}", "{% for x in %}{% endfor %}", "{{ 1 + }}", "{{ (1 }}",
    "{{ 'a }}", "{% if true %}", "{% endif %}", "{% else %}", "{{", "{%", "{{ x | nothing }}",
    "{{ x is nothing }}", "{% nothing %}", "{{ range(1000000) }}", "{% set messages.x = 1 %}",
    "{{ 5 5 }}", "{{ {'a'} }}", "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", "{% break %}",
    "{{ 'abc'[::0] }}", "{{ 'a' in 5 }}", "{{ f(a=1, 2) }}",
]


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

        @staticmethod
        def _body(caller):
            return caller()

    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    moment = datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc)
    env.globals["strftime_now"] = moment.strftime
    return env


def make(env, name, template, messages, variables, prompt):
    case = {"name": name, "template": template, "messages": messages, "variables": variables,
            "prompt": prompt}
    given = {"tools": None, "documents": None, **variables}
    try:
        case["expected"] = env.from_string(template).render(
            messages=messages, add_generation_prompt=prompt, bos_token="<s>", eos_token="</s>", **given)
    except Exception as error:  # noqa: BLE001: any failure is one to reproduce
        case["error"] = str(error)
    return case


def main():
    env = environment()
    cases = []
    for model, template in MODELS.items():
        for talk, messages in TALKS.items():
            for prompt in (True, False):
                cases.append(make(env, f"{model}, {talk}", template, messages, {}, prompt))
    for i, (messages, variables) in enumerate(TOOL_TALKS):
        cases.append(make(env, f"llama3.1, tools {i}", LLAMA31, messages, variables, True))
    for i, template in enumerate(SMALL):
        cases.append(make(env, f"small {i}", template, TALKS["long"], {}, False))
        assert "expected" in cases[-1], cases[-1]
    for template in ERRORS:
        cases.append(make(env, f"error {template}", template, TALKS["long"], {}, False))
        assert "error" in cases[-1], cases[-1]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"now": NOW, "cases": cases}, ensure_ascii=False, indent=0))
    print(len(cases), "cases,", OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
