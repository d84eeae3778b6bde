// Searches one index by several threads at once, and stops a search from outside.
#include <cstdio>
#include <kith/kith.hpp>
#include <stop_token>
#include <thread>
#include <vector>

int main() {
  std::vector<float> train(20000);
  for (std::size_t i = 0; i < train.size(); ++i) train[i] = static_cast<float>(i * 7919 % 1009);
  const kith::Index index(kith::open_device(), {train.data(), 10000, 2});
  const kith::MatrixView<const float> queries(train.data(), 1000, 2);
  const kith::Neighbors right = index.search(queries, 3);

  std::vector<int> same(4, 0);  // one for each thread
  {
    std::vector<std::jthread> threads;
    for (int& mine : same) threads.emplace_back([&] { mine = index.search(queries, 3) == right ? 1 : 0; });
  }
  std::printf("%d of 4 threads found the same\n", same[0] + same[1] + same[2] + same[3]);

  std::stop_source stop;
  kith::SearchOptions options;
  options.threads = 1;  // of the host, for this search
  options.stop = stop.get_token();
  stop.request_stop();  // from any thread, at any time
  try {
    index.search(queries, 3, options);
  } catch (const kith::Error& error) {
    std::printf("%s\n", std::string(kith::name(error.code())).c_str());
  }
}
//> 4 of 4 threads found the same
//> interrupted
