// nacre-simulate: see `usage` in options.cc.
#include <cstdio>
#include <string>
#include <string_view>

#include "options.h"
#include "run.h"
#include "search.h"

namespace {

int fail(const nacre::Error& error, int code) {
  std::fprintf(stderr, "nacre-simulate: %s\n", error.message.c_str());
  return code;
}

nacre::Result<std::string> answer_to(const nacre::simulate::Options& options) {
  return options.searches ? nacre::simulate::search(options) : nacre::simulate::run(options);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int exit_usage = 2;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help") {
      std::fputs(nacre::simulate::usage, stdout);
      return 0;
    }
  }
  const nacre::Result<nacre::simulate::Options> options =
      nacre::simulate::parse_options(argc, argv);
  if (!options) return fail(options.error(), exit_usage);
  const nacre::Result<std::string> outcome = answer_to(*options);
  if (!outcome) return fail(outcome.error(), 1);
  std::puts(outcome->c_str());
  return 0;
}
