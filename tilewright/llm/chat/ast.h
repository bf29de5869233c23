// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/llm/chat/value.h"

namespace tilewright::chat {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind {
    kLiteral,      // value
    kName,         // text
    kList,         // children
    kTuple,        // children
    kDict,         // children: key, value, key, value…
    kNot,          // children[0]
    kNegate,       // children[0]
    kBinary,       // text: + - * / // % ** ~ and or; children[0], children[1]
    kCompare,      // operators[i] between children[i] and children[i + 1]
    kConditional,  // children: value, condition, and the value otherwise (may be null)
    kAttribute,    // children[0] . text
    kSubscript,    // children[0] [ children[1] ]
    kSlice,        // children[0] [ children[1] : children[2] : children[3] ], each may be null
    kCall,         // children[0] ( children[1…], named )
    kFilter,       // children[0] | text ( children[1…], named )
    kTest,         // children[0] is text ( children[1…] )
  };
  Kind kind = Kind::kLiteral;
  int line = 1;
  int depth = 1;
  std::string text;
  Value value;
  std::vector<ExpressionPtr> children;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  std::vector<std::string> operators;
};

struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

struct Statement {
  enum class Kind {
    kText,      // text
    kOutput,    // value
    kIf,        // branches; a null condition is else
    kFor,       // names, value, condition (may be null), body, otherwise
    kSet,       // names = value
    kSetField,  // names[0] . names[1] = value
    kSetBlock,  // names[0] = body
    kMacro,     // text ( names, defaults by name ) body
    kBreak,
    kContinue,
    kBody,  // body: {% generation %}
  };
  Kind kind = Kind::kText;
  int line = 1;
  std::string text;
  ExpressionPtr value, condition;
  std::vector<std::string> names;
  std::vector<std::pair<std::string, ExpressionPtr>> defaults;
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Block body, otherwise;
};

}  // namespace tilewright::chat
