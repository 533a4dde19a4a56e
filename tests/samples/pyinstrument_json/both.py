# app.py, by the classes of a version that saves no sessions: NAME
import runpy, sys
from pyinstrument import Profiler
from pyinstrument.renderers import ConsoleRenderer, JSONRenderer
profiler = Profiler(interval=0.001)
profiler.start(); runpy.run_path('app.py', run_name='__main__'); profiler.stop()
open(sys.argv[1] + '.json', 'w').write(JSONRenderer(show_all=True).render(profiler.last_session))
open(sys.argv[1] + '.txt', 'w').write(ConsoleRenderer(show_all=True, unicode=False, color=False).render(profiler.last_session))
