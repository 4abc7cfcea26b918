// SPDX-License-Identifier: Apache-2.0
// Crops a point file to a box and keeps ground and buildings: example_crop_file IN OUT XMIN YMIN XMAX YMAX
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"
#include "sluice/sluice.hpp"

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s IN OUT XMIN YMIN XMAX YMAX\n", argv[0]);
    return 2;
  }
  try {
    sluice::Box box;  // bounds that are not set are free
    for (int d = 0; d < 2; ++d) {
      box.min[d] = std::strtod(argv[3 + d], nullptr);
      box.max[d] = std::strtod(argv[5 + d], nullptr);
    }
    sluice::Selection selection;
    selection.regions.emplace_back(box);
    selection.where.push_back(sluice::parse_where("classification in (2, 6)"));

    const auto source = sluice::io::open_source(argv[1]);
    const auto sink = sluice::io::create_sink(argv[2], source->info());
    const std::vector<sluice::ChunkSource*> sources = {source.get()};
    const sluice::Report report = sluice::filter(sources, selection, *sink, nullptr, {});
    sink->seal();
    sink->finish();  // only now is there a file
    std::printf("%llu of %llu points kept on %s\n", static_cast<unsigned long long>(report.points_written),
                static_cast<unsigned long long>(report.points_read), report.backend.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
