// Does each step of a device as directly as the contract can be written down.
#pragma once

#include "kith/spi.hpp"

namespace kith::spi {

void plain(const DistanceStep& s);
void plain(const SelectStep& s);
void plain(const NearestStep& s);
void plain(const GroupsStep& s);
void plain(const MergeStep& s);
void plain(const CollectStep& s);
void plain(const RerankStep& s);
void plain(const DoubleChainsStep& s);
void plain(const TightenStep& s);
void plain(const VoteStep& s);
void plain(const MaskStep& s);
void plain(const ScoreStep& s);
void plain(const AccumulateStep& s);
void plain(const BoxesStep& s);
void plain(const CountStep& s);
void plain(const OrderStep& s);
void plain(const PackBoxesStep& s);
void plain(const LandStep& s);
void plain(const UnitStep& s);
void plain(const FinishStep& s);

// Steps of proposers, of which any bound will do.
inline void plain(const PrepareStep&) {}
inline void plain(const RecoverStep&) {}
inline void plain(const PruneStep&) {}
inline void plain(const TightenByBoundsStep&) {}
inline void plain(const TightenBySampleStep&) {}

}  // namespace kith::spi
