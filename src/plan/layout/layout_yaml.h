// Layouts as YAML, with the keys and values of `lfs getstripe -y`, or of CephFS's xattrs.
#ifndef NACRE_PLAN_LAYOUT_LAYOUT_YAML_H_
#define NACRE_PLAN_LAYOUT_LAYOUT_YAML_H_

#include <string>

#include "plan/layout/layout.h"

namespace nacre::plan {

/// Whole lines. A plain layout without objects and a composite one whose components have no ids are
/// written like the default of a directory: keys without "lmm_", N/A for the ids. A layout of
/// CephFS has the keys of ceph.file.layout.
[[nodiscard]] std::string layout_yaml(const Layout& layout);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LAYOUT_YAML_H_
