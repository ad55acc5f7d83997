// Machine files: every setting by name, and errors that name the line, the value and the valid
// values.
#include "machine/machine_file.h"

#include <string>

#include <doctest/doctest.h>

namespace nacre::machine {
namespace {

std::string error_in(const std::string& text) {
  MachineFile file;
  const Status read = read_machine(file, text, "m.toml");
  return read ? "" : read.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a machine file sets the figures that it names and keeps the rest") {
  MachineFile file;
  Machine& machine = file.machine;
  const std::string text =
      "[osts]\ncount = 24\nbandwidth = \"12m\"\nclient_cost = 0.25\n[servers]\nosts_each = 6\n";
  REQUIRE(read_machine(file, text, "folder/m.toml").ok());
  CHECK(file.name == "m");
  CHECK(machine.osts == 24);
  CHECK(machine.ost.bandwidth == 12 << 20);
  CHECK(machine.ost.client_cost == 0.25);
  CHECK(machine.servers() == 4);
  CHECK(machine.nodes == 2);
  REQUIRE(set_machine(machine, "osts.client_cost", "0").ok());
  CHECK(machine.ost.client_cost == 0);
  CHECK(has(describe_machine(machine), "osts.count = 24"));
  CHECK(has(machine_as_json(machine), "\"osts.count\":{\"value\":24,"));
}

TEST_CASE("section [machine] says which machine it is") {
  MachineFile file;
  REQUIRE(
      read_machine(file, "[machine]\nversion = 1\nname = \"big\"\nmount = \"/scratch\"\n", "m.toml")
          .ok());
  CHECK(file.name == "big");
  CHECK(file.mount == "/scratch");
  CHECK(has(error_in("[machine]\nversion = 2\n"),
            "m.toml:2: machine.version = 2: this library reads version 1"));
  CHECK(has(error_in("[machine]\nmounts = \"a\"\n"), "there is no setting machine.mounts"));
  CHECK(has(error_in("[machine]\nmount = 3\n"), "machine.mount takes a string"));
}

TEST_CASE("a machine without each of its figures") {
  Machine machine;
  machine.ost = {.bandwidth = 100, .client_cost = 0.2};
  for (const WithoutFigure& one : without_each_figure(machine)) {
    CAPTURE(one.name);
    if (one.name == "osts.bandwidth") {
      CHECK(one.machine.ost.bandwidth == 0);
      CHECK(one.machine.ost.client_cost == 0.2);
    } else if (one.name == "osts.client_cost") {
      CHECK(one.machine.ost.bandwidth == 100);
      CHECK(one.machine.ost.client_cost == 0);
    } else {
      CHECK((one.name == "nodes.read_bytes" || one.name == "osts.fallocate" ||
             one.name == "locks.wide" || one.name == "striping.count"));
    }
  }
}

TEST_CASE("the shipped machine files are valid") {
  CHECK(shipped_machines().size() >= 3);
  for (const ShippedMachine& one : shipped_machines()) {
    MachineFile file;
    const Status read = read_machine(file, std::string(one.text), std::string(one.name));
    CHECK_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    CHECK(shipped_machine(one.name).copy_bandwidth > 0);
  }
}

TEST_CASE("errors in a machine file name the line") {
  CHECK(has(error_in("[osts]\nnumber = 3\n"), "m.toml:2: there is no setting osts.number"));
  CHECK(has(error_in("[osts]\ncount = 0\n"), "m.toml:2: osts.count = 0: it takes 1 to 65536"));
  CHECK(has(error_in("[osts]\ncount = \"many\"\n"), "osts.count = many"));
  CHECK(has(error_in("[osts]\ncount = [1]\n"), "takes a number"));
  CHECK(has(error_in("[messages]\nshare_link = 2\n"), "messages.share_link = 2: it takes 0 to 1"));
  CHECK(has(error_in("[osts]\nclient_cost = -1.0\n"), "it takes 0 to 1000"));
  CHECK(has(error_in("count = 3\n"), "m.toml:1: expected sections"));
  CHECK(has(error_in("[osts\n"), "m.toml:1: "));
  CHECK(has(error_in("[striping]\nsize = 100000\n"), "no multiple of 64k"));
}

}  // namespace nacre::machine
