#include "device.hpp"
#include "select/shapes.hpp"

namespace kith::opencl {
namespace {

/// Sizes of sample_sort.cl, an argument by value.
struct PartitionSizes {
  cl_ulong lists, first_list;
  cl_uint width, buckets;
};

}  // namespace

bool Device::partitions(const spi::SelectStep& step) const {
  const Partition partition(step);
  return family_ == Family::groups && partition.pays(step) &&
         partition.lists_at_once(step, step.scratch.bytes) > 0;
}

void Device::select_by_partition(const spi::SelectStep& step) {
  const Partition partition(step);
  const spi::Grid<float>& d = step.distances;
  const std::string defines =
      define("GROUP", Partition::group) + define("ROOM", Partition::room_of_bucket) +
      define("MOST_BUCKETS", Partition::most_width / Partition::mean_of_bucket) +
      define("BUCKETS_A_GROUP", Partition::buckets_a_group) + define("OVERSAMPLED", Partition::oversampled) +
      define("RANKED", Partition::ranked) + define("SPREAD", Partition::spread) +
      define("KEYS_AN_ITEM", Partition::keys_an_item) + (limits_.tensor_cores ? " -D WARPS" : "");
  const std::size_t all = lists_of(step), at_once = partition.lists_at_once(step, step.scratch.bytes);
  for (std::size_t first = 0; first < all; first += at_once) {
    const PartitionSizes sizes{std::min(at_once, all - first), first, partition.width, partition.buckets};
    const auto run = [&](const char* kernel, std::uint32_t groups, const auto&... arguments) {
      launch("select/sample_sort.cl", defines, kernel,
             Range{{Partition::group * groups * sizes.lists, 1, 1}, {Partition::group, 1, 1}}, d,
             static_cast<cl_uint>(d.cols), step.first_row, step.lists, buffer_of(step.scratch.memory), sizes,
             arguments...);
    };
    run("kith_choose_borders", divide_up(partition.buckets * Partition::oversampled, Partition::ranked));
    run("kith_fill_buckets", divide_up(partition.width, Partition::group * Partition::keys_an_item));
    run("kith_sort_buckets", divide_up(partition.buckets, Partition::buckets_a_group), step.k, step.out);
  }
}

}  // namespace kith::opencl
