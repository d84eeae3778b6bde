// Tells bad.cpp which plug-in it is a part of.
extern const char bad_plugin_name[] = KITH_BAD_NAME, bad_plugin_mistake[] = KITH_BAD_MISTAKE;
