from graphs.settings.base import Settings
from graphs.settings.local import LocalSettings
from graphs.worker import Worker


def test_settings_are_given_as_a_class_or_by_name() -> None:
    class Own(Settings):
        pass

    assert Worker("own", Own, module="own").load_settings() is Own
    assert Worker("own", "graphs.settings.local:LocalSettings", module="own").load_settings() is LocalSettings
