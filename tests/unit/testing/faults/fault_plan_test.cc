// The syntax of fault plans.
#include "testing/faults/fault_plan.h"

#include <cerrno>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::testing {
namespace {

std::string complaint(std::string_view spec) {
  const Result<FaultPlan> plan = parse_fault_plan(spec);
  if (plan) return "accepted";
  CHECK(plan.error().error_class == ErrorClass::arg);
  return plan.error().message;
}

}  // namespace

TEST_CASE("rules are parsed into faults, in order") {
  const Result<FaultPlan> plan =
      parse_fault_plan("rank=2,write=3,errno=ENOSPC;rank=0,byte=1048576,errno=EIO");
  REQUIRE(plan.ok());
  REQUIRE(plan->faults.size() == 2);
  CHECK(plan->delays.empty());
  const Fault& write = plan->faults[0];
  CHECK(write.rank == 2);
  CHECK(write.system_errno == ENOSPC);
  CHECK_FALSE(write.repeats);
  CHECK(std::get<NthCall>(write.trigger).operation == StoreCall::write);
  CHECK(std::get<NthCall>(write.trigger).nth == 3);
  const Fault& byte = plan->faults[1];
  CHECK(byte.rank == 0);
  CHECK(std::get<TouchedByte>(byte.trigger).offset == 1048576);
  CHECK_FALSE(std::get<TouchedByte>(byte.trigger).only.has_value());
}

TEST_CASE("every key is parsed") {
  const Result<FaultPlan> plan = parse_fault_plan(
      " read = 1 , short=100, path=x.h5, repeat=1, errno=5 ;; after=4096,on=write,errno=EDQUOT;"
      "open=2,errno=EACCES;resize=1,errno=EFBIG;allocate=1,errno=ENOSPC;sync=1,errno=EIO;"
      "close=1,errno=EDQUOT;lock=1,errno=ENOLCK;remove=1,errno=EPERM;counter=3,errno=EIO;"
      "byte=7,on=read,errno=EIO;layout=2,kill=1;latency_us=200,bandwidth=1000000,rank=1,path=y;");
  REQUIRE_MESSAGE(plan.ok(), (plan ? "" : plan.error().message));
  REQUIRE(plan->faults.size() == 12);
  const Fault& read = plan->faults[0];
  CHECK_FALSE(read.rank.has_value());
  CHECK(read.path_part == "x.h5");
  CHECK(read.repeats);
  CHECK(read.system_errno == EIO);
  CHECK(std::get<NthCall>(read.trigger).short_bytes == 100);
  CHECK(std::get<MovedBytes>(plan->faults[1].trigger).only == StoreCall::write);
  CHECK(std::get<TouchedByte>(plan->faults[10].trigger).only == StoreCall::read);
  CHECK(std::get<NthCall>(plan->faults[11].trigger).operation == StoreCall::layout);
  CHECK(plan->faults[11].system_errno == kills_process);
  REQUIRE(plan->delays.size() == 1);
  CHECK(plan->delays[0].latency_microseconds == 200);
  CHECK(plan->delays[0].bytes_per_second == 1'000'000);
  CHECK(plan->delays[0].rank == 1);
  CHECK(plan->delays[0].path_part == "y");
}

TEST_CASE("an empty text is a plan without faults") {
  for (const char* spec : {"", ";", " ; "}) {
    const Result<FaultPlan> plan = parse_fault_plan(spec);
    REQUIRE(plan.ok());
    CHECK(plan->faults.empty());
  }
}

TEST_CASE("an error quotes the invalid rule and says why") {
  CHECK(complaint("write=1,errno=EIO;rnak=1,write=1,errno=EIO") ==
        "fault rule \"rnak=1,write=1,errno=EIO\": unknown key \"rnak\"");
  CHECK(complaint("write") == "fault rule \"write\": \"write\" is not key=value");
  CHECK(complaint("write=x,errno=EIO").find("write is \"x\", but a number from 1") !=
        std::string::npos);
  const std::vector<const char*> bad{
      "write=0,errno=EIO",
      "write=-1,errno=EIO",
      "write=1x,errno=EIO",
      "write=99999999999999999999,errno=EIO",
      "write=1",
      "errno=EIO",
      "rank=1,errno=EIO",
      "write=1,byte=2,errno=EIO",
      "write=1,read=1,errno=EIO",
      "write=1,write=2,errno=EIO",
      "write=1,errno=EWHAT",
      "write=1,errno=",
      "write=1,errno=0",
      "write=1,errno=5000",
      "rank=-1,write=1,errno=EIO",
      "rank=99999999999,write=1,errno=EIO",
      "open=1,short=5,errno=EIO",
      "byte=1,short=5,errno=EIO",
      "byte=1,on=sync,errno=EIO",
      "write=1,on=write,errno=EIO",
      "latency_us=5,errno=EIO",
      "latency_us=5,write=1",
      "latency_us=5,kill=1",
      "write=1,kill=2",
      "write=1,kill=1,errno=EIO",
      "bandwidth=0",
      "write=1,,errno=EIO",
  };
  for (const char* spec : bad) {
    CAPTURE(spec);
    CHECK(complaint(spec).find("fault rule \"") == 0);
  }
}

}  // namespace nacre::testing
