// SPDX-License-Identifier: Apache-2.0
#include "tilewright/llm/chat/chat_template.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/files.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

std::string render(const std::string& source, const std::string& messages = "[]") {
  return ChatTemplate::parse(source).render_json(messages, {});
}

template <class Kind>
void expect_error(const std::string& source, const std::string& part) {
  try {
    const std::string text = render(source);
    ADD_FAILURE() << source << " gave " << text.substr(0, 200);
  } catch (const Kind& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

RenderOptions options_of(const Json& test) {
  RenderOptions options;
  options.add_generation_prompt = test["prompt"];
  options.bos_token = "<s>";
  options.eos_token = "</s>";
  for (const auto& [name, value] : test["variables"].items()) {
    options.variables[name] = value.dump();
  }
  return options;
}

// tools/make_chat_fixtures.py: what Jinja makes of the same.
TEST(ChatTemplate, RendersAsJinjaDoes) {
  ::setenv("TZ", "UTC", 1);
  const auto fixture = Json::parse(read_text_file(TW_SOURCE_DIR "/tests/fixtures/chat/cases.json"));
  int rendered = 0, refused = 0;
  for (const Json& test : fixture["cases"]) {
    const std::string name = test["name"];
    RenderOptions options = options_of(test);
    options.now = fixture["now"];
    const auto run = [&] {
      return ChatTemplate::parse(test["template"]).render_json(test["messages"].dump(), options);
    };
    if (test.contains("error")) {
      EXPECT_THROW(run(), Error) << name;
      ++refused;
      continue;
    }
    try {
      EXPECT_EQ(run(), test["expected"].get<std::string>()) << name;
    } catch (const Error& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
    ++rendered;
  }
  EXPECT_GE(rendered, 100);
  EXPECT_GE(refused, 30);
}

TEST(ChatTemplate, TakesMessages) {
  const auto chat = ChatTemplate::parse(
      "{% for m in messages %}{{ m.role }}: {{ m['content'] }}\n{% endfor %}"
      "{% if add_generation_prompt %}>{% endif %}{{ bos_token }}{{ eos_token }}");
  const std::vector<ChatMessage> messages{{"user", "hi"}, {"assistant", "bad \xff"}};
  RenderOptions options;
  options.bos_token = "B";
  options.eos_token = "E";
  EXPECT_EQ(chat.render(messages, options), "user: hi\nassistant: bad \xEF\xBF\xBD\n>BE");
}

TEST(ChatTemplate, NamesWhatIsNotSupportedAndItsLine) {
  expect_error<Unsupported>("a\n\n{% include 'x' %}", "line 3: the statement 'include'");
  expect_error<Unsupported>("\n{{ 1 | wordwrap }}", "line 2: the filter 'wordwrap'");
  expect_error<Unsupported>("{{ 1 is callable }}", "line 1: the test 'callable'");
  expect_error<Unsupported>("{{ 'a'.format(1) }}", "line 1: the method .format()");
  expect_error<Unsupported>("\n\n\n{{ lipsum() }}", "line 4: the function 'lipsum'");
  expect_error<Unsupported>("{{ '%d' % 1 }}", "formatting with %");
  expect_error<Unsupported>("{{ f(*a) }}", "unpacking");
}

TEST(ChatTemplate, NamesTheLineOfAnError) {
  expect_error<FormatError>("a\n{{ x.y }}", "line 2: 'x' is undefined");
  expect_error<FormatError>("{% if 1 %}\n", "line 1: expected {% endif %}");
  expect_error<FormatError>("\n{{ 1 + }}", "line 2: expected a value");
  expect_error<InvalidArgument>("\n\n{{ raise_exception('no tools') }}", "line 3: no tools");
  EXPECT_THROW(ChatTemplate::parse("\xff"), FormatError);
}

TEST(ChatTemplate, HostileTemplatesEnd) {
  const std::string many = "{% for i in range(99999) %}";
  expect_error<InvalidArgument>(many + many + "{% endfor %}{% endfor %}", "too long");
  expect_error<InvalidArgument>("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "deep");
  expect_error<InvalidArgument>("{% set n = namespace(s='xxxxxxxxxxxxxxxx') %}" + many +
                                    "{% set n.s = n.s ~ n.s %}{% endfor %}",
                                "text");
  expect_error<InvalidArgument>("{{ 'x' * 999999999999 }}", "too long");
  expect_error<InvalidArgument>(
      "{% set n = namespace(v=[]) %}" + many + "{% set n.v = [n.v, n.v] %}{% endfor %}", "nested");
  expect_error<Unsupported>("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + "}}",
                            "levels");
  expect_error<Unsupported>(
      "{{ 1" +
          [] {
            std::string sum;
            for (int i = 0; i < 5000; ++i) sum += "+1";
            return sum;
          }() +
          "}}",
      "levels");
  std::string ifs;
  for (int i = 0; i < 5000; ++i) ifs += "{% if 1 %}";
  expect_error<Unsupported>(ifs, "statements");
  // A namespace that holds itself is freed all the same.
  EXPECT_EQ(render("{% set n = namespace() %}{% set n.n = n %}{% set n.l = [n] %}ok"), "ok");
}

}  // namespace
}  // namespace tilewright
